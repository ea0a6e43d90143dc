import { spend } from './budget.ts';
import type { GoMap, GoSlice, GoStruct, GoValue } from './go-type.ts';
import { ANY } from './go-type.ts';
import { isComplex, isMap, isSlice, isStruct, sortedKeys, typeOf } from './go-value.ts';
import { printBool, printComplex, printFloat, printInt, printString } from './print-scalar.ts';
import { type Printer, pad, write } from './printer.ts';

const NIL = '<nil>';

/**
 * Prints one argument with a verb, as Go's fmt does. Only `%p`, an address, is always a wrong verb.
 */
export function printArg(printer: Printer, value: GoValue, verb: string): void {
  spend(printer.budget, 1);
  if (value === null) {
    if (verb === 'T' || verb === 'v') pad(printer, NIL);
    else printBadVerb(printer, null, verb);
    return;
  }
  if (verb === 'T') printString(printer, typeOf(value).name, 's');
  else if (verb === 'w' || verb === 'p') printBadVerb(printer, value, verb);
  else printNested(printer, value, verb);
}

/** Prints a value or an element of one. An element of static type `any` may be nil. */
function printNested(printer: Printer, value: GoValue, verb: string): void {
  if (value === null) write(printer, printer.sharpV ? `${ANY.name}(nil)` : NIL);
  else if (printText(printer, value, verb)) return;
  else if (isMap(value)) printMap(printer, value, verb);
  else if (isSlice(value) && value.isNil && printer.sharpV)
    write(printer, `${value.type.name}(nil)`);
  else if (isSlice(value)) printSlice(printer, value, verb);
  else if (isStruct(value)) printStruct(printer, value, verb);
  else if (!printScalar(printer, value, verb)) printBadVerb(printer, value, verb);
}

/** Prints a value by its String method, where it has one and the verb is for strings. */
function printText(printer: Printer, value: NonNullable<GoValue>, verb: string): boolean {
  if (typeof value !== 'object' || printer.isError || printer.sharpV) return false;
  const { text } = value.type;
  if (text === undefined || !'vsxXq'.includes(verb)) return false;
  return printString(printer, text(value), verb);
}

function printScalar(
  printer: Printer,
  value: Exclude<GoValue, null | GoMap | GoSlice | GoStruct>,
  verb: string,
): boolean {
  switch (typeof value) {
    case 'string':
      return printString(printer, value, verb);
    case 'number':
      return printFloat(printer, value, verb);
    case 'boolean':
      return printBool(printer, value, verb);
  }
  if (isComplex(value)) return printComplex(printer, value, verb);
  return printInt(printer, value.value, verb, !value.type.kind.startsWith('u'));
}

/** Prints `%!d(string=hi)` for a verb that does not fit the value. */
function printBadVerb(printer: Printer, value: GoValue, verb: string): void {
  printer.isError = true;
  write(printer, `%!${verb}(`);
  if (value === null) write(printer, NIL);
  else {
    write(printer, `${typeOf(value).name}=`);
    printArg(printer, value, 'v');
  }
  write(printer, ')');
  printer.isError = false;
}

function printMap(printer: Printer, map: GoMap, verb: string): void {
  spend(printer.budget, map.entries.size);
  write(printer, printer.sharpV ? `${map.type.name}{` : 'map[');
  for (const [index, key] of sortedKeys(map).entries()) {
    if (index > 0) write(printer, separator(printer));
    printNested(printer, key, verb);
    write(printer, ':');
    printNested(printer, map.entries.get(key) ?? null, verb);
  }
  write(printer, printer.sharpV ? '}' : ']');
}

function printSlice(printer: Printer, slice: GoSlice, verb: string): void {
  spend(printer.budget, slice.items.length);
  write(printer, printer.sharpV ? `${slice.type.name}{` : '[');
  for (const [index, item] of slice.items.entries()) {
    if (index > 0) write(printer, separator(printer));
    printNested(printer, item, verb);
  }
  write(printer, printer.sharpV ? '}' : ']');
}

function printStruct(printer: Printer, { type, values }: GoStruct, verb: string): void {
  spend(printer.budget, values.length);
  write(printer, printer.sharpV ? `${type.name}{` : '{');
  for (const [index, value] of values.entries()) {
    if (index > 0) write(printer, separator(printer));
    if (printer.plusV || printer.sharpV) write(printer, `${type.fields?.[index]?.name ?? ''}:`);
    printNested(printer, value, verb);
  }
  write(printer, '}');
}

function separator(printer: Printer): string {
  return printer.sharpV ? ', ' : ' ';
}
