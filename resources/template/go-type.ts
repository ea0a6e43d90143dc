/** What Go's reflection calls a kind, as far as templates meet it. */
export type GoKind =
  | 'bool'
  | 'string'
  | 'int'
  | 'int8'
  | 'int16'
  | 'int32'
  | 'int64'
  | 'uint'
  | 'uint8'
  | 'uint16'
  | 'uint32'
  | 'uint64'
  | 'float64'
  | 'complex128'
  | 'map'
  | 'slice'
  | 'struct'
  | 'interface';

/**
 * A method that a template may call. `params` are its parameters' types. A method without `call`
 * has no result, so Go rejects it.
 */
export type GoMethod = {
  readonly params: readonly GoType[];
  readonly call?: (receiver: GoValue, args: readonly GoValue[]) => GoValue;
};

/**
 * A type of Go. `name` is what `%T` prints. `text` is its String method, which print and printf
 * use.
 */
export type GoType = {
  readonly kind: GoKind;
  readonly name: string;
  /** The type of a map's or slice's elements. */
  readonly elem?: GoType;
  readonly fields?: readonly GoField[];
  readonly text?: (value: GoValue) => string;
  readonly methods?: ReadonlyMap<string, GoMethod>;
};

/**
 * A field of a struct. It has Go's name and its name in JSON (the same by default). It says whether
 * a zero value is left out there, and whether its static type is `any`.
 */
export type GoField = {
  readonly name: string;
  readonly json?: string;
  readonly omitEmpty?: boolean;
  readonly isAny?: boolean;
};

export const BOOL: GoType = { kind: 'bool', name: 'bool' };
export const STRING: GoType = { kind: 'string', name: 'string' };
export const INT: GoType = { kind: 'int', name: 'int' };
export const INT32: GoType = { kind: 'int32', name: 'int32' };
export const INT64: GoType = { kind: 'int64', name: 'int64' };
export const UINT8: GoType = { kind: 'uint8', name: 'uint8' };
export const UINT32: GoType = { kind: 'uint32', name: 'uint32' };
export const UINT64: GoType = { kind: 'uint64', name: 'uint64' };
export const FLOAT64: GoType = { kind: 'float64', name: 'float64' };
export const COMPLEX128: GoType = { kind: 'complex128', name: 'complex128' };
export const ANY: GoType = { kind: 'interface', name: 'interface {}' };
export const ANY_SLICE: GoType = sliceOf(ANY);
export const STRING_SLICE: GoType = sliceOf(STRING);
export const ANY_MAP: GoType = mapOf(ANY);

/** Returns the type `[]elem`. */
export function sliceOf(elem: GoType): GoType {
  return { kind: 'slice', name: `[]${elem.name}`, elem };
}

/** Returns the type `map[string]elem`. */
export function mapOf(elem: GoType): GoType {
  return { kind: 'map', name: `map[string]${elem.name}`, elem };
}

/** Returns a struct's type. `name` has its package, as in `ratelimit.Status`. */
export function structType(name: string, fields: readonly GoField[]): GoType {
  return { kind: 'struct', name, fields };
}

/**
 * A value of Go's, as templates see it. `null` is nil and a number is a float64. Ints are objects
 * because they print otherwise.
 */
export type GoValue =
  | null
  | boolean
  | number
  | string
  | GoInt
  | GoComplex
  | GoSlice
  | GoMap
  | GoStruct;

/** An integer of any int type. It is a bigint only beyond the safe integers. */
export type GoInt = { readonly type: GoType; readonly value: number | bigint };
export type GoComplex = {
  readonly type: GoType;
  readonly real: number;
  readonly imaginary: number;
};
/** `tail` are the elements between its length and its capacity. */
export type GoSlice = {
  readonly type: GoType;
  readonly items: readonly GoValue[];
  readonly tail: readonly GoValue[];
  readonly isNil: boolean;
};
/** A map with string keys. The function `json` leaves out `hidden` keys. */
export type GoMap = {
  readonly type: GoType;
  readonly entries: ReadonlyMap<string, GoValue>;
  readonly hidden: ReadonlySet<string>;
};
/** `values` in the order of its type's fields. */
export type GoStruct = { readonly type: GoType; readonly values: readonly GoValue[] };
