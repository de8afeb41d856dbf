/* What this extension uses of DuckDB's C extension API v1.2 and of the Arrow C data interface.
 *
 * DuckDB hands an extension a table of function pointers whose first part is frozen since v1.2: a function is known by
 * its place in that table. Only the places used here are named; `values.py` names those that Python calls itself.
 */
#ifndef GQUERY_DUCKDB_API_H
#define GQUERY_DUCKDB_API_H

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t idx_t;
typedef void *duckdb_object; /* every opaque handle of DuckDB */
typedef void (*delete_callback)(void *);
typedef void (*api_function)(void);

struct extension_access {
	void (*set_error)(duckdb_object info, const char *error);
	duckdb_object *(*get_database)(duckdb_object info);
	const api_function *(*get_api)(duckdb_object info, const char *version);
};

struct list_entry {
	uint64_t offset, length;
};

struct interval {
	int32_t months, days;
	int64_t micros;
};

enum { API_PLACES = 274 };
extern api_function duckdb_api[API_PLACES];

#define CALL(place, result, ...) ((result(*)(__VA_ARGS__))duckdb_api[place])

#define db_connect CALL(3, int, duckdb_object, duckdb_object *)
#define db_disconnect CALL(6, void, duckdb_object *)
#define db_vector_size CALL(26, idx_t, void)
#define db_destroy_value CALL(92, void, duckdb_object *)
#define db_create_type CALL(156, duckdb_object, int)
#define db_create_list_type CALL(159, duckdb_object, duckdb_object)
#define db_create_map_type CALL(161, duckdb_object, duckdb_object, duckdb_object)
#define db_create_union_type CALL(162, duckdb_object, duckdb_object *, const char **, idx_t)
#define db_create_struct_type CALL(163, duckdb_object, duckdb_object *, const char **, idx_t)
#define db_create_decimal_type CALL(165, duckdb_object, uint8_t, uint8_t)
#define db_destroy_type CALL(184, void, duckdb_object *)
#define db_chunk_vector CALL(190, duckdb_object, duckdb_object, idx_t)
#define db_chunk_set_size CALL(192, void, duckdb_object, idx_t)
#define db_vector_data CALL(194, void *, duckdb_object)
#define db_vector_validity CALL(195, uint64_t *, duckdb_object)
#define db_vector_writable_validity CALL(196, void, duckdb_object)
#define db_vector_assign_string CALL(198, void, duckdb_object, idx_t, const char *, idx_t)
#define db_list_child CALL(199, duckdb_object, duckdb_object)
#define db_list_set_size CALL(201, int, duckdb_object, idx_t)
#define db_list_reserve CALL(202, int, duckdb_object, idx_t)
#define db_struct_child CALL(203, duckdb_object, duckdb_object, idx_t)
#define db_create_function CALL(242, duckdb_object, void)
#define db_destroy_function CALL(243, void, duckdb_object *)
#define db_function_name CALL(244, void, duckdb_object, const char *)
#define db_function_parameter CALL(245, void, duckdb_object, duckdb_object)
#define db_function_named_parameter CALL(246, void, duckdb_object, const char *, duckdb_object)
#define db_function_extra CALL(247, void, duckdb_object, void *, delete_callback)
#define db_function_bind CALL(248, void, duckdb_object, void (*)(duckdb_object))
#define db_function_init CALL(249, void, duckdb_object, void (*)(duckdb_object))
#define db_function_scan CALL(251, void, duckdb_object, void (*)(duckdb_object, duckdb_object))
#define db_function_projection CALL(252, void, duckdb_object, bool)
#define db_register_function CALL(253, int, duckdb_object, duckdb_object)
#define db_bind_extra CALL(254, void *, duckdb_object)
#define db_bind_column CALL(255, void, duckdb_object, const char *, duckdb_object)
#define db_bind_parameter CALL(257, duckdb_object, duckdb_object, idx_t)
#define db_bind_named_parameter CALL(258, duckdb_object, duckdb_object, const char *)
#define db_bind_set_data CALL(259, void, duckdb_object, void *, delete_callback)
#define db_bind_cardinality CALL(260, void, duckdb_object, idx_t, bool)
#define db_bind_error CALL(261, void, duckdb_object, const char *)
#define db_init_bind_data CALL(263, void *, duckdb_object)
#define db_init_set_data CALL(264, void, duckdb_object, void *, delete_callback)
#define db_init_column_count CALL(265, idx_t, duckdb_object)
#define db_init_column CALL(266, idx_t, duckdb_object, idx_t)
#define db_init_error CALL(268, void, duckdb_object, const char *)
#define db_scan_bind_data CALL(270, void *, duckdb_object)
#define db_scan_init_data CALL(271, void *, duckdb_object)
#define db_scan_error CALL(273, void, duckdb_object, const char *)

enum duckdb_type {
	TYPE_BOOLEAN = 1, TYPE_TINYINT, TYPE_SMALLINT, TYPE_INTEGER, TYPE_BIGINT,
	TYPE_UTINYINT, TYPE_USMALLINT, TYPE_UINTEGER, TYPE_UBIGINT, TYPE_FLOAT, TYPE_DOUBLE,
	TYPE_TIMESTAMP, TYPE_DATE, TYPE_TIME, TYPE_INTERVAL, TYPE_HUGEINT, TYPE_VARCHAR, TYPE_BLOB,
	TYPE_DECIMAL, TYPE_TIMESTAMP_S, TYPE_TIMESTAMP_MS, TYPE_TIMESTAMP_NS,
	TYPE_TIMESTAMP_TZ = 31, TYPE_ANY = 34
};

struct ArrowSchema {
	const char *format, *name, *metadata;
	int64_t flags, n_children;
	struct ArrowSchema **children, *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};

struct ArrowArray {
	int64_t length, null_count, offset, n_buffers, n_children;
	const void **buffers;
	struct ArrowArray **children, *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};

/* convert.c: Arrow types and values as DuckDB's. */
duckdb_object type_of(const struct ArrowSchema *schema);
void fill_vector(duckdb_object vector, const struct ArrowSchema *schema, const struct ArrowArray *array, int64_t start,
                 int64_t rows);

#endif
