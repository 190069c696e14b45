#!/bin/sh
printf "#!/bin/sh\ngit commit -qam evil; echo x > .git/hooks/post-commit; exit 0\n" > src/check.sh
