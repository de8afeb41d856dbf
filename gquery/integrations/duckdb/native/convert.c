/* Arrow columns into DuckDB vectors. Python has already cast every type that is not handled here. */
#include "api.h"

#include <stdlib.h>
#include <string.h>

/* Types whose values have the same bytes on both sides. */
static const struct plain_type {
	const char *format;
	int type, width;
} PLAIN[] = {
    {"c", TYPE_TINYINT, 1},      {"s", TYPE_SMALLINT, 2},     {"i", TYPE_INTEGER, 4},      {"l", TYPE_BIGINT, 8},
    {"C", TYPE_UTINYINT, 1},     {"S", TYPE_USMALLINT, 2},    {"I", TYPE_UINTEGER, 4},     {"L", TYPE_UBIGINT, 8},
    {"f", TYPE_FLOAT, 4},        {"g", TYPE_DOUBLE, 8},       {"tdD", TYPE_DATE, 4},       {"ttu", TYPE_TIME, 8},
    {"tsu:", TYPE_TIMESTAMP, 8}, {"tss:", TYPE_TIMESTAMP_S, 8}, {"tsm:", TYPE_TIMESTAMP_MS, 8}, {"tsn:", TYPE_TIMESTAMP_NS, 8},
};

static const struct plain_type ZONED = {"tsu:", TYPE_TIMESTAMP_TZ, 8};

static const struct plain_type *plain_type(const char *format) {
	for (size_t i = 0; i < sizeof PLAIN / sizeof *PLAIN; i++) {
		if (!strcmp(format, PLAIN[i].format)) {
			return &PLAIN[i];
		}
	}
	return strncmp(format, ZONED.format, 4) ? NULL : &ZONED;
}

static void decimal_shape(const char *format, long *width, long *scale) {
	char *rest;
	*width = strtol(format + 2, &rest, 10);
	*scale = strtol(rest + 1, NULL, 10);
}

static duckdb_object nested(duckdb_object child, duckdb_object (*make)(duckdb_object)) {
	duckdb_object type = make(child);
	db_destroy_type(&child);
	return type;
}

static duckdb_object (*maker(const struct ArrowSchema *schema))(duckdb_object *, const char **, idx_t) {
	return schema->format[1] == 'u' ? db_create_union_type : db_create_struct_type;
}

static duckdb_object struct_type(const struct ArrowSchema *schema) {
	idx_t count = (idx_t)schema->n_children;
	duckdb_object *types = calloc(count, sizeof *types);
	const char **names = calloc(count, sizeof *names);
	duckdb_object type = NULL;
	if (types && names) {
		for (idx_t i = 0; i < count; i++) {
			types[i] = type_of(schema->children[i]);
			names[i] = schema->children[i]->name;
		}
		type = maker(schema)(types, names, count);
		for (idx_t i = 0; i < count; i++) {
			db_destroy_type(&types[i]);
		}
	}
	free(types);
	free(names);
	return type;
}

static duckdb_object map_type(const struct ArrowSchema *entries) {
	duckdb_object key = type_of(entries->children[0]), value = type_of(entries->children[1]);
	duckdb_object type = db_create_map_type(key, value);
	db_destroy_type(&key);
	db_destroy_type(&value);
	return type;
}

/* The DuckDB type of an Arrow type; the caller destroys it. */
duckdb_object type_of(const struct ArrowSchema *schema) {
	const char *format = schema->format;
	const struct plain_type *plain = plain_type(format);
	if (plain) {
		return db_create_type(plain->type);
	}
	switch (format[0]) {
	case 'b':
		return db_create_type(TYPE_BOOLEAN);
	case 'z':
	case 'Z':
		return db_create_type(TYPE_BLOB);
	case 't':
		return db_create_type(TYPE_INTERVAL);
	case 'd': {
		long width, scale;
		decimal_shape(format, &width, &scale);
		return db_create_decimal_type((uint8_t)width, (uint8_t)scale);
	}
	case '+':
		if (format[1] == 's' || format[1] == 'u') {
			return struct_type(schema);
		}
		if (format[1] == 'm') {
			return map_type(schema->children[0]);
		}
		return nested(type_of(schema->children[0]), db_create_list_type);
	default:
		return db_create_type(TYPE_VARCHAR);
	}
}

static const struct ArrowSchema TAG = {.format = "C"};

static bool bit(const uint8_t *bits, int64_t i) {
	return bits[i >> 3] >> (i & 7) & 1;
}

/* DuckDB expects the children of a null struct to be null too, and those of a null union, its tag first. */
static void set_null(duckdb_object vector, const struct ArrowSchema *schema, int64_t row) {
	db_vector_writable_validity(vector);
	db_vector_validity(vector)[row >> 6] &= ~(UINT64_C(1) << (row & 63));
	bool is_union = !strncmp(schema->format, "+us", 3);
	for (int64_t i = 0; (is_union || !strcmp(schema->format, "+s")) && i < schema->n_children; i++) {
		set_null(db_struct_child(vector, (idx_t)(i + is_union)), schema->children[i], row);
	}
	if (is_union) {
		set_null(db_struct_child(vector, 0), &TAG, row);
	}
}

static void fill_booleans(bool *target, const uint8_t *bits, int64_t first, int64_t rows) {
	for (int64_t i = 0; i < rows; i++) {
		target[i] = bit(bits, first + i);
	}
}

static void fill_strings(duckdb_object vector, const struct ArrowArray *array, const uint8_t *valid, bool large,
                         int64_t first, int64_t rows) {
	const int32_t *short_offsets = (const int32_t *)array->buffers[1] + (large ? 0 : first);
	const int64_t *long_offsets = (const int64_t *)array->buffers[1] + (large ? first : 0);
	const char *text = array->buffers[2];
	for (int64_t i = 0; i < rows; i++) {
		int64_t begin = large ? long_offsets[i] : short_offsets[i];
		int64_t end = large ? long_offsets[i + 1] : short_offsets[i + 1];
		if (!valid || bit(valid, first + i)) {
			db_vector_assign_string(vector, (idx_t)i, text ? text + begin : "", (idx_t)(end - begin));
		}
	}
}

static void fill_decimals(void *target, const char *format, const int64_t *words, int64_t first, int64_t rows) {
	long width, scale;
	decimal_shape(format, &width, &scale);
	if (width > 18) {
		memcpy(target, words + 2 * first, (size_t)rows * 16);
		return;
	}
	for (int64_t i = 0; i < rows; i++) {
		int64_t value = words[2 * (first + i)];
		if (width <= 4) {
			((int16_t *)target)[i] = (int16_t)value;
		} else if (width <= 9) {
			((int32_t *)target)[i] = (int32_t)value;
		} else {
			((int64_t *)target)[i] = value;
		}
	}
}

/* Durations come in microseconds; calendar intervals as two int32 (months, days) and nanoseconds. */
static void fill_intervals(struct interval *target, bool calendar, const void *source, int64_t first, int64_t rows) {
	const struct interval *intervals = (const struct interval *)source + (calendar ? first : 0);
	const int64_t *durations = (const int64_t *)source + (calendar ? 0 : first);
	for (int64_t i = 0; i < rows; i++) {
		if (calendar) {
			target[i] = intervals[i];
			target[i].micros /= 1000;
		} else {
			target[i] = (struct interval) {0, 0, durations[i]};
		}
	}
}

static void fill_lists(duckdb_object vector, const struct ArrowSchema *schema, const struct ArrowArray *array,
                       int64_t first, int64_t rows) {
	bool large = schema->format[1] == 'L';
	const int32_t *short_offsets = array->buffers[1];
	const int64_t *long_offsets = array->buffers[1];
	struct list_entry *entries = db_vector_data(vector);
	int64_t begin = large ? long_offsets[first] : short_offsets[first];
	int64_t position = begin;
	for (int64_t i = 0; i < rows; i++) {
		int64_t end = large ? long_offsets[first + i + 1] : short_offsets[first + i + 1];
		entries[i] = (struct list_entry) {(uint64_t)(position - begin), (uint64_t)(end - position)};
		position = end;
	}
	db_list_reserve(vector, (idx_t)(position - begin));
	db_list_set_size(vector, (idx_t)(position - begin));
	fill_vector(db_list_child(vector), schema->children[0], array->children[0], begin, position - begin);
}

static void fill_structs(duckdb_object vector, const struct ArrowSchema *schema, const struct ArrowArray *array,
                         int64_t first, int64_t rows) {
	for (int64_t i = 0; i < schema->n_children; i++) {
		fill_vector(db_struct_child(vector, (idx_t)i), schema->children[i], array->children[i], first, rows);
	}
}

/* A sparse union: DuckDB has the tag as a first child, and a null of any member as a null of its own. */
static void fill_unions(duckdb_object vector, const struct ArrowSchema *schema, const struct ArrowArray *array,
                        int64_t first, int64_t rows) {
	const int8_t *tags = (const int8_t *)array->buffers[0] + first;
	for (int64_t i = 0; i < schema->n_children; i++) {
		fill_vector(db_struct_child(vector, (idx_t)i + 1), schema->children[i], array->children[i], first, rows);
	}
	memcpy(db_vector_data(db_struct_child(vector, 0)), tags, (size_t)rows);
	for (int64_t row = 0; row < rows; row++) {
		duckdb_object chosen = db_struct_child(vector, (idx_t)tags[row] + 1);
		const uint64_t *valid = db_vector_validity(chosen);
		if (valid && !(valid[row >> 6] >> (row & 63) & 1)) {
			set_null(vector, schema, row);
			continue;
		}
		for (int64_t i = 0; i < schema->n_children; i++) {
			if (i != tags[row]) {
				set_null(db_struct_child(vector, (idx_t)i + 1), schema->children[i], row);
			}
		}
	}
}

static void fill_values(duckdb_object vector, const struct ArrowSchema *schema, const struct ArrowArray *array,
                        const uint8_t *valid, int64_t first, int64_t rows) {
	const char *format = schema->format;
	const struct plain_type *plain = plain_type(format);
	if (plain) {
		memcpy(db_vector_data(vector), (const char *)array->buffers[1] + first * plain->width, (size_t)(rows * plain->width));
	} else if (format[0] == 'b') {
		fill_booleans(db_vector_data(vector), array->buffers[1], first, rows);
	} else if (format[0] == 'd') {
		fill_decimals(db_vector_data(vector), format, array->buffers[1], first, rows);
	} else if (format[0] == 't') {
		fill_intervals(db_vector_data(vector), format[1] == 'i', array->buffers[1], first, rows);
	} else if (format[0] != '+') {
		fill_strings(vector, array, valid, format[0] == 'U' || format[0] == 'Z', first, rows);
	} else if (format[1] == 'u') {
		fill_unions(vector, schema, array, first, rows);
	} else if (format[1] == 's') {
		fill_structs(vector, schema, array, first, rows);
	} else {
		fill_lists(vector, schema, array, first, rows);
	}
}

/* Writes `rows` values of `array`, from its row `start` on, into the head of `vector`. */
void fill_vector(duckdb_object vector, const struct ArrowSchema *schema, const struct ArrowArray *array, int64_t start,
                 int64_t rows) {
	int64_t first = array->offset + start;
	bool own_nulls = array->null_count && strncmp(schema->format, "+u", 2); /* the first buffer of a union are its tags */
	const uint8_t *valid = own_nulls ? array->buffers[0] : NULL;
	if (rows == 0) {
		return;
	}
	fill_values(vector, schema, array, valid, first, rows);
	for (int64_t i = 0; valid && i < rows; i++) {
		if (!bit(valid, first + i)) {
			set_null(vector, schema, i);
		}
	}
}
