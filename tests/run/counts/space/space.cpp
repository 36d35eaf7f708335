// SPDX-License-Identifier: BSD-3-Clause
// C++: new in all its forms, and containers, whose allocations lie in system headers but belong to lines here.
#include <cstdio>
#include <memory>
#include <mpi.h>
#include <new>
#include <vector>

static unsigned long long asked;

struct alignas(64) wide {
    double value[16];
};

template <typename T> struct counting_allocator {
    using value_type = T;
    counting_allocator() = default;
    template <typename U> counting_allocator(const counting_allocator<U> &)
    {
    }
    T *allocate(std::size_t n)
    {
        asked += n * sizeof(T);
        return std::allocator<T>().allocate(n);
    }
    void deallocate(T *at, std::size_t n)
    {
        std::allocator<T>().deallocate(at, n);
    }
};

static __attribute__((noinline)) double fill(int n)
{
    double sum = 0;
    std::vector<double, counting_allocator<double>> grows;
    for (int i = 0; i < n; i++)
        grows.push_back(i);
    for (double each : grows)
        sum += each;
    return sum;
}

static void *volatile last; // what nobody looks at need not be allocated

template <typename T> static T *seen(T *at)
{
    last = at;
    return at;
}

static __attribute__((noinline)) void forms(int n)
{
    asked += sizeof(double) + n * sizeof(int) + n * sizeof(wide) + sizeof(wide) + sizeof(long);
    delete seen(new double(n));
    std::unique_ptr<int[]> many(seen(new int[n]()));
    delete[] seen(new wide[n]);
    delete seen(new wide);
    delete seen(new (std::nothrow) long(n));
    alignas(long) char here[sizeof(long)];
    seen(new (here) long(n)); // asks for nothing
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double sum = 0;
    for (int step = 0; step < 20; step++) {
        sum += fill(1000 * (rank + 1));
        forms(10 + rank);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    std::fprintf(stderr, "asked %d %llu\n", rank, sum > 0 ? asked : 0);
    MPI_Finalize();
    return 0;
}
