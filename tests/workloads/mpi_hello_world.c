/* Each rank says where it is, and what the sum of all ranks is: it is right only if all of them answer. */

#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, size, length, sum;
    char host[MPI_MAX_PROCESSOR_NAME];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(host, &length);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d of %d on %s: all ranks together are %d\n", rank, size, host, sum);
    MPI_Finalize();
    return 0;
}
