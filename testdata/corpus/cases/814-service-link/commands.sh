relay audit service list
relay audit service show a
relay audit start a
relay status
