/* A DuckDB extension that lends DuckDB's table functions to Python.
 *
 * It registers two table functions, which call back into Python through the pointers that `extension.py` sets:
 *   gquery(graph VARCHAR, query VARCHAR, params := ANY)   the rows of a query
 *   gquery_attach(name VARCHAR, token BIGINT)             puts a graph under a name, in this database instance
 *
 * Python is called once a statement (bind), once a scan (start) and once an Arrow batch (next); never once a row. A
 * callback returns the text of an error, empty for none, which it keeps alive until its thread calls again; NULL means
 * that it broke off. Whatever DuckDB holds of Python's is a number, given back with `close`.
 */
#include "api.h"

#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

struct statement {
	int64_t handle;
	const void *context; /* of DuckDB's client, NULL where it is not known */
	int64_t rows;        /* about so many */
	struct ArrowSchema schema;
};

struct callbacks {
	int64_t (*open)(void);
	void (*close)(int64_t handle);
	const char *(*attach)(int64_t registry, duckdb_object name, duckdb_object token);
	const char *(*bind)(int64_t registry, duckdb_object info, duckdb_object graph, duckdb_object query,
	                    duckdb_object parameters, struct statement *told, int64_t *statement);
	const char *(*start)(int64_t statement, const int64_t *columns, int64_t count, int64_t *scan);
	const char *(*next)(int64_t scan, struct ArrowArray *batch);
	void (*raise_interrupted)(const void *context); /* DuckDB's own; NULL where it is not exported */
	int (*hold_gil)(void);                          /* these are Python's own: PyGILState_Ensure and so on */
	void (*release_gil)(int state);
	void (*fetch_error)(void **type, void **value, void **traceback);
	void (*restore_error)(void *type, void *value, void *traceback);
};

struct scan {
	int64_t handle;
	struct ArrowArray batch;
	int64_t position; /* rows of `batch` already given to DuckDB */
	bool ended;
	idx_t count;       /* columns that DuckDB wants, in its order */
	int64_t columns[]; /* place in the schema; negative for a column without values, as under count(*) */
};

api_function duckdb_api[API_PLACES];
static struct callbacks python;

/* Sets the pointers into Python, or clears them (NULL) when the interpreter goes away. False when the library was built
 * from other sources than the Python that calls. */
EXPORT bool gquery_join_python(const struct callbacks *callbacks, int64_t size) {
	if (callbacks && size != sizeof *callbacks) {
		return false;
	}
	if (callbacks) {
		python = *callbacks;
	} else {
		memset(&python, 0, sizeof python);
	}
	return true;
}

/* DuckDB's function table, for what Python reads itself: the values of parameters. */
EXPORT const api_function *gquery_api(void) {
	return duckdb_api;
}

static const char SHUT_DOWN[] = "gquery is shutting down with its Python";

/* NULL, or the error that a callback told. */
static const char *error_of(const char *told) {
	if (!told) {
		return "gquery broke off";
	}
	return *told ? told : NULL;
}

/* Ends a callback of DuckDB's with an error. When the user has interrupted the statement, that is DuckDB's own error,
 * which is a C++ exception and passes through here: nothing may be held by the caller any more. */
static void fail(duckdb_object info, void (*set_error)(duckdb_object, const char *), const char *error,
                 const void *context) {
	if (context && python.raise_interrupted) {
		python.raise_interrupted(context);
	}
	set_error(info, error);
}

/* DuckDB drops things while an error of Python's is under way in this thread, such as a Ctrl-C seen while it polled:
 * Python code must not run over it. */
static void close_handle(int64_t handle) {
	if (!python.close || !handle) {
		return;
	}
	void *type, *value, *traceback;
	int state = python.hold_gil();
	python.fetch_error(&type, &value, &traceback);
	python.close(handle);
	python.restore_error(type, value, traceback);
	python.release_gil(state);
}

static void drop_registry(void *registry) {
	close_handle(*(int64_t *)registry);
	free(registry);
}

static void drop_statement(void *data) {
	struct statement *statement = data;
	if (statement->schema.release) {
		statement->schema.release(&statement->schema);
	}
	close_handle(statement->handle);
	free(statement);
}

static void drop_batch(struct scan *scan) {
	if (scan->batch.release) {
		scan->batch.release(&scan->batch);
	}
	memset(&scan->batch, 0, sizeof scan->batch);
	scan->position = 0;
}

static void drop_scan(void *data) {
	drop_batch(data);
	close_handle(((struct scan *)data)->handle);
	free(data);
}

static void bind_attach(duckdb_object info) {
	duckdb_object name = db_bind_parameter(info, 0), token = db_bind_parameter(info, 1);
	const char *error = error_of(python.attach ? python.attach(*(int64_t *)db_bind_extra(info), name, token) : SHUT_DOWN);
	duckdb_object type = db_create_type(TYPE_VARCHAR);
	db_bind_column(info, "graph", type);
	db_destroy_type(&type);
	db_destroy_value(&name);
	db_destroy_value(&token);
	if (error) {
		db_bind_error(info, error);
	}
}

static void init_nothing(duckdb_object info) {
	(void)info;
}

static void scan_nothing(duckdb_object info, duckdb_object chunk) {
	(void)info;
	db_chunk_set_size(chunk, 0);
}

static void add_columns(duckdb_object info, const struct ArrowSchema *schema) {
	for (int64_t i = 0; i < schema->n_children; i++) {
		duckdb_object type = type_of(schema->children[i]);
		db_bind_column(info, schema->children[i]->name, type);
		db_destroy_type(&type);
	}
}

static void bind_query(duckdb_object info) {
	struct statement *statement = calloc(1, sizeof *statement);
	if (!statement) {
		db_bind_error(info, "out of memory");
		return;
	}
	db_bind_set_data(info, statement, drop_statement);
	duckdb_object graph = db_bind_parameter(info, 0), query = db_bind_parameter(info, 1);
	duckdb_object parameters = db_bind_named_parameter(info, "params");
	const char *error = error_of(python.bind ? python.bind(*(int64_t *)db_bind_extra(info), info, graph, query, parameters,
	                                                       statement, &statement->handle)
	                                         : SHUT_DOWN);
	db_destroy_value(&graph);
	db_destroy_value(&query);
	if (parameters) {
		db_destroy_value(&parameters);
	}
	if (error) {
		fail(info, db_bind_error, error, statement->context);
	} else {
		add_columns(info, &statement->schema);
		db_bind_cardinality(info, (idx_t)statement->rows, false);
	}
}

static void init_query(duckdb_object info) {
	const struct statement *statement = db_init_bind_data(info);
	idx_t count = db_init_column_count(info);
	struct scan *scan = calloc(1, sizeof *scan + count * sizeof *scan->columns);
	if (!scan) {
		db_init_error(info, "out of memory");
		return;
	}
	db_init_set_data(info, scan, drop_scan);
	scan->count = count;
	for (idx_t i = 0; i < count; i++) {
		idx_t column = db_init_column(info, i);
		scan->columns[i] = column < (idx_t)statement->schema.n_children ? (int64_t)column : -1;
	}
	const char *told = python.start ? python.start(statement->handle, scan->columns, (int64_t)count, &scan->handle)
	                                : SHUT_DOWN;
	const char *error = error_of(told);
	if (error) {
		fail(info, db_init_error, error, statement->context);
	}
}

/* Makes `scan->batch` hold rows not yet given, if there are any; returns an error or NULL. */
static const char *next_rows(struct scan *scan) {
	while (!scan->ended && scan->position == scan->batch.length) {
		drop_batch(scan);
		const char *error = error_of(python.next ? python.next(scan->handle, &scan->batch) : SHUT_DOWN);
		scan->ended = error || !scan->batch.release;
		if (error) {
			return error;
		}
	}
	return NULL;
}

/* The batch has only the columns asked for, in the order of their places in `columns`. */
static void scan_query(duckdb_object info, duckdb_object chunk) {
	const struct statement *statement = db_scan_bind_data(info);
	struct scan *scan = db_scan_init_data(info);
	const char *error = next_rows(scan);
	if (error) {
		fail(info, db_scan_error, error, statement->context);
		return;
	}
	int64_t rows = scan->batch.length - scan->position, most = (int64_t)db_vector_size();
	rows = rows < most ? rows : most;
	for (idx_t i = 0, child = 0; rows && i < scan->count; i++) {
		if (scan->columns[i] >= 0) {
			fill_vector(db_chunk_vector(chunk, i), statement->schema.children[scan->columns[i]],
			            scan->batch.children[child++], scan->batch.offset + scan->position, rows);
		}
	}
	scan->position += rows;
	db_chunk_set_size(chunk, (idx_t)rows);
}

struct function {
	const char *name;
	int parameters[2];
	bool params;
	void (*bind)(duckdb_object);
	void (*init)(duckdb_object);
	void (*scan)(duckdb_object, duckdb_object);
};

static const struct function FUNCTIONS[] = {
    {"gquery", {TYPE_VARCHAR, TYPE_VARCHAR}, true, bind_query, init_query, scan_query},
    {"gquery_attach", {TYPE_VARCHAR, TYPE_BIGINT}, false, bind_attach, init_nothing, scan_nothing},
};

static bool register_function(duckdb_object connection, const struct function *spec, int64_t *registry,
                              delete_callback drop) {
	duckdb_object function = db_create_function(), any = db_create_type(TYPE_ANY);
	db_function_name(function, spec->name);
	for (int i = 0; i < 2; i++) {
		duckdb_object type = db_create_type(spec->parameters[i]);
		db_function_parameter(function, type);
		db_destroy_type(&type);
	}
	if (spec->params) {
		db_function_named_parameter(function, "params", any);
	}
	db_function_extra(function, registry, drop);
	db_function_bind(function, spec->bind);
	db_function_init(function, spec->init);
	db_function_scan(function, spec->scan);
	db_function_projection(function, true);
	bool failed = db_register_function(connection, function);
	db_destroy_function(&function);
	db_destroy_type(&any);
	return !failed;
}

/* Both functions share the registry; DuckDB drops them together, with their database. */
static bool register_functions(duckdb_object database) {
	duckdb_object connection;
	if (db_connect(database, &connection)) {
		return false;
	}
	int64_t *registry = malloc(sizeof *registry);
	bool done = registry != NULL;
	if (done) {
		*registry = python.open();
		done = register_function(connection, &FUNCTIONS[0], registry, drop_registry) &&
		       register_function(connection, &FUNCTIONS[1], registry, NULL);
	}
	db_disconnect(&connection);
	return done;
}

/* Called by DuckDB's LOAD. */
EXPORT bool gquery_init_c_api(duckdb_object info, struct extension_access *access) {
	const api_function *api = access->get_api(info, "v1.2.0");
	if (!api) {
		access->set_error(info, "this DuckDB does not offer the C extension API v1.2 that gquery needs");
		return false;
	}
	if (!python.open) {
		access->set_error(info, "gquery's extension works only inside Python: use gquery.connect()");
		return false;
	}
	memcpy(duckdb_api, api, sizeof duckdb_api);
	if (!register_functions(*access->get_database(info))) {
		access->set_error(info, "DuckDB refused to register the function gquery");
		return false;
	}
	return true;
}
