once
sed -i 's/^# max_steps.*/max_steps = 2/' crew.toml
agent 'printf "[submodule \"lib\"]\n\tpath = lib\n\turl = https://github.com:owner/lib.git\n" > .gitmodules
git add .gitmodules && git commit -qm modules; echo DONE'
git add crew.toml agent.sh
git commit --quiet --message=agent
ticket t-1
