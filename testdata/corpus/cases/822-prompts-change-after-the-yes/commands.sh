relay trust --yes
unset RELAY_TRUST
git commit -q --allow-empty -m pulled; echo "EVILPROMPT" > relais/prompts/builder.user.txt; git commit -qam pulled
tick
