tick || exit
git commit -qam work; cd ..; mv repo elsewhere; cd elsewhere
relay history list; grep -c . "$SAID" > /dev/null; relay status; cd ..; mv elsewhere repo; cd repo
