relay status
relay history list
relay
relay undo --yes
relay show
relay status
