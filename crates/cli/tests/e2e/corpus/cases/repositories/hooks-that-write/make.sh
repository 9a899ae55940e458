for hook in pre-commit post-commit post-checkout post-merge; do printf '#!/bin/sh\ntouch "$HOME/hooked-%s"\n' $hook > .git/hooks/$hook; chmod +x .git/hooks/$hook; done
ticket t-1
