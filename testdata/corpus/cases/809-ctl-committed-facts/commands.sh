echo "and one of mine" >> relais/FACTS.md
tick || exit
git commit -qam facts && echo more >> relais/FACTS.md
tick
