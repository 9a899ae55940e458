printf '#!/bin/sh\ncase "$1" in prepared) grep -q refs/heads/main && exit 1;; esac\nexit 0\n' > .git/hooks/reference-transaction
chmod +x .git/hooks/reference-transaction
ticket t-1
