# SPDX-License-Identifier: BSD-3-Clause
"""Programs of an MPI that is newer than the one here. A library of their own, -DLIBRARY of the same source, stands for what the
newer MPI brings."""
import os
import shutil
import subprocess
import tempfile

ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_btl_vader_single_copy_mechanism="none")


def recorded(whywait, source, binding, *options):
    """Records the program on two ranks for each MPI that is here: (MPI, what is wrong or None, the report with these options)."""
    for mpi in ("openmpi", "mpich"):
        compiler, launcher = shutil.which(f"mpicc.{mpi}"), shutil.which(f"mpirun.{mpi}")
        if not compiler or not launcher:
            continue
        with tempfile.TemporaryDirectory() as cwd:
            subprocess.run([compiler, "-DLIBRARY", "-shared", "-fPIC", source, "-o", "libnewer.so"], cwd=cwd, check=True)
            subprocess.run([compiler, "-O2", "-g", source, "-o", "program", "-L.", "-lnewer", f"-Wl,-rpath,{cwd}", f"-Wl,-z,{binding}"],
                           cwd=cwd, check=True)
            run = subprocess.run([launcher, "-n", "2", whywait, "record", "./program"], cwd=cwd, env=ENV, capture_output=True, text=True, timeout=120)
            report = subprocess.run([whywait, "report", *options], cwd=cwd, capture_output=True, text=True, timeout=120)
            fault = f"status {run.returncode} and {report.returncode}: {run.stderr}{report.stderr}"
            yield mpi, fault if run.returncode or report.returncode else None, report.stdout
