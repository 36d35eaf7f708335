-- SPDX-License-Identifier: BSD-3-Clause
-- Modulefile for Lmod. Set `root` to the prefix of `cmake --install`; nothing else is needed.
help([[Names the loop that makes the other ranks of an MPI program wait:
mpirun -n 4 whywait record ./app, then whywait report]])
whatis("Name: whywait")
whatis("Description: which loop makes MPI ranks wait")

local root = "/opt/whywait"
prepend_path("PATH", pathJoin(root, "bin"))
prepend_path("MANPATH", pathJoin(root, "share/man"))
if myShellType() == "sh" then
    execute { cmd = 'eval "$(whywait completion bash 2>/dev/null)"', modeA = { "load" } }
end
