// Walkread reads every file below a directory with so many threads, and does nothing
// else: what a search cannot be faster than without an index.
//
//	walkread DIR THREADS
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct entry {
	unsigned long inode;
	long offset;
	unsigned short size;
	unsigned char type;
	char name[];
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static char **dirs; // what is left to read
static int left, room, busy;
static long files, bytes;

static void push(char *dir) {
	pthread_mutex_lock(&mutex);
	if (left == room) {
		room = 2 * room + 64;
		dirs = realloc(dirs, room * sizeof *dirs);
	}
	dirs[left++] = dir;
	pthread_cond_signal(&ready);
	pthread_mutex_unlock(&mutex);
}

static char *pop(void) {
	char *dir = NULL;
	pthread_mutex_lock(&mutex);
	while (left == 0 && busy > 0)
		pthread_cond_wait(&ready, &mutex);
	if (left > 0) {
		dir = dirs[--left];
		busy++;
	}
	pthread_mutex_unlock(&mutex);
	return dir;
}

static void done(long n, long size) {
	pthread_mutex_lock(&mutex);
	files += n;
	bytes += size;
	if (--busy == 0 && left == 0)
		pthread_cond_broadcast(&ready);
	pthread_mutex_unlock(&mutex);
}

enum { BUFFER = 256 << 10, ENTRIES = 32 << 10 };

static void *work(void *unused) {
	char *buffer = malloc(BUFFER), *entries = malloc(ENTRIES), *dir;
	while ((dir = pop()) != NULL) {
		long n, got, count = 0, total = 0;
		int in = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		while (in >= 0 && (n = syscall(SYS_getdents64, in, entries, ENTRIES)) > 0) {
			for (long at = 0; at < n;) {
				struct entry *e = (struct entry *)(entries + at);
				at += e->size;
				if (e->type == DT_DIR && strcmp(e->name, ".") != 0 && strcmp(e->name, "..") != 0) {
					char *below;
					if (asprintf(&below, "%s/%s", dir, e->name) < 0)
						abort();
					push(below);
				} else if (e->type == DT_REG) {
					int file = openat(in, e->name, O_RDONLY | O_CLOEXEC);
					if (file < 0)
						continue;
					count++;
					do {
						got = read(file, buffer, BUFFER);
						total += got;
					} while (got == BUFFER);
					close(file);
				}
			}
		}
		if (in >= 0)
			close(in);
		free(dir);
		done(count, total);
	}
	return unused;
}

int main(int argc, char **argv) {
	int threads = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t started[64];
	if (argc < 2 || threads < 1 || threads > 64) {
		fprintf(stderr, "usage: walkread DIR THREADS\n");
		return 2;
	}
	push(strdup(argv[1]));
	for (int i = 0; i < threads; i++)
		pthread_create(&started[i], NULL, work, NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(started[i], NULL);
	printf("%ld files, %ld bytes\n", files, bytes);
	return 0;
}
