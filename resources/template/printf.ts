import { type Budget, spend } from './budget.ts';
import { joinBytes } from './go-string.ts';
import type { GoValue } from './go-type.ts';
import { isInt, typeOf } from './go-value.ts';
import { printArg } from './print-value.ts';
import { clearFlags, type Printer, printerOf, write } from './printer.ts';

/** Larger widths and precisions are rejected. */
const LARGEST = 1_000_000;

/** A format while it is read. `at` is the next character, and `next` the next argument. */
type Reader = {
  readonly format: string;
  readonly args: readonly GoValue[];
  at: number;
  next: number;
  /** Whether the last thing read was an argument index such as `[3]`. */
  afterIndex: boolean;
  isGood: boolean;
  isReordered: boolean;
};

/** Prints as Go's fmt.Sprint, with a space between two operands of which none is a string. */
export function sprint(args: readonly GoValue[], budget: Budget): string {
  const [only] = args;
  if (args.length === 1 && typeof only === 'string') return only;
  const printer = printerOf(budget);
  for (const [index, arg] of args.entries()) {
    const previous = args[index - 1];
    if (index > 0 && typeof arg !== 'string' && typeof previous !== 'string') write(printer, ' ');
    printArg(printer, arg, 'v');
  }
  return finish(printer);
}

/** Prints as Go's fmt.Sprintln, with spaces between all operands and a line break. */
export function sprintln(args: readonly GoValue[], budget: Budget): string {
  const printer = printerOf(budget);
  for (const [index, arg] of args.entries()) {
    if (index > 0) write(printer, ' ');
    printArg(printer, arg, 'v');
  }
  write(printer, '\n');
  return finish(printer);
}

/** Prints as Go's fmt.Sprintf, with its words for what does not fit: `%!d(string=hi)`. */
export function sprintf(format: string, args: readonly GoValue[], budget: Budget): string {
  const printer = printerOf(budget);
  const reader: Reader = {
    format,
    args,
    at: 0,
    next: 0,
    afterIndex: false,
    isGood: true,
    isReordered: false,
  };
  for (;;) {
    const percent = format.indexOf('%', reader.at);
    write(printer, format.slice(reader.at, percent < 0 ? undefined : percent));
    if (percent < 0) break;
    reader.at = percent + 1;
    spend(budget, 1);
    printVerb(printer, reader);
  }
  if (!reader.isReordered && reader.next < args.length)
    printExtra(printer, args.slice(reader.next));
  return finish(printer);
}

function finish(printer: Printer): string {
  spend(printer.budget, 0, printer.out.length);
  return joinBytes(printer.out);
}

/** Reads flags, indexes, width, precision and verb after a `%`, and prints the argument. */
function printVerb(printer: Printer, reader: Reader): void {
  clearFlags(printer);
  reader.isGood = true;
  reader.afterIndex = false;
  readFlags(printer, reader);
  readIndex(reader);
  readWidth(printer, reader);
  readPrecision(printer, reader);
  if (!reader.afterIndex) readIndex(reader);
  const code = reader.format.codePointAt(reader.at);
  const verb = code === undefined ? '' : String.fromCodePoint(code);
  reader.at += verb.length;
  if (verb === '') write(printer, '%!(NOVERB)');
  else if (verb === '%') write(printer, '%');
  else if (!reader.isGood) write(printer, `%!${verb}(BADINDEX)`);
  else printNext(printer, reader, verb);
}

/** Prints the next argument with a verb. */
function printNext(printer: Printer, reader: Reader, verb: string): void {
  const arg = reader.args[reader.next];
  if (arg === undefined) {
    write(printer, `%!${verb}(MISSING)`);
    return;
  }
  if (verb === 'v' || verb === 'w') moveFlags(printer);
  printArg(printer, arg, verb);
  reader.next++;
}

/** For %v the flags `#` and `+` mean something else. */
function moveFlags(printer: Printer): void {
  printer.sharpV = printer.sharp;
  printer.sharp = false;
  printer.plusV = printer.plus;
  printer.plus = false;
}

function readFlags(printer: Printer, reader: Reader): void {
  for (; ; reader.at++) {
    const flag = reader.format[reader.at];
    if (flag === '#') printer.sharp = true;
    else if (flag === '0') printer.zero = true;
    else if (flag === '+') printer.plus = true;
    else if (flag === '-') printer.minus = true;
    else if (flag === ' ') printer.space = true;
    else return;
  }
}

/** Reads an argument index `[n]`, counted from 1. */
function readIndex(reader: Reader): void {
  const { format, at, args } = reader;
  reader.afterIndex = false;
  if (format[at] !== '[') return;
  reader.isReordered = true;
  const end = format.length - at < 3 ? -1 : format.indexOf(']', at + 1);
  reader.at = end < 0 ? at + 1 : end + 1;
  const inner = end < 0 ? '' : format.slice(at + 1, end);
  const index =
    /^[0-9]+$/.test(inner) && numberOf(inner) !== undefined ? Number(inner) - 1 : undefined;
  reader.afterIndex = index !== undefined;
  if (index !== undefined && index >= 0 && index < args.length) reader.next = index;
  else reader.isGood = false;
}

function readWidth(printer: Printer, reader: Reader): void {
  if (reader.format[reader.at] !== '*') {
    printer.width = readNumber(reader);
    if (reader.afterIndex && printer.width !== undefined) reader.isGood = false;
    return;
  }
  reader.at++;
  const width = intArgument(reader);
  if (width === undefined) write(printer, '%!(BADWIDTH)');
  printer.width = width === undefined ? undefined : Math.abs(width);
  if (width !== undefined && width < 0) {
    printer.minus = true;
    printer.zero = false;
  }
  reader.afterIndex = false;
}

function readPrecision(printer: Printer, reader: Reader): void {
  if (reader.format[reader.at] !== '.' || reader.at + 1 >= reader.format.length) return;
  reader.at++;
  if (reader.afterIndex) reader.isGood = false;
  readIndex(reader);
  if (reader.format[reader.at] !== '*') {
    printer.precision = readNumber(reader) ?? 0;
    return;
  }
  reader.at++;
  const precision = intArgument(reader);
  printer.precision = precision !== undefined && precision >= 0 ? precision : undefined;
  if (printer.precision === undefined) write(printer, '%!(BADPREC)');
  reader.afterIndex = false;
}

/** Reads digits. A number that is too large ends the format, as in Go. */
function readNumber(reader: Reader): number | undefined {
  const start = reader.at;
  while (/[0-9]/.test(reader.format.charAt(reader.at))) reader.at++;
  if (reader.at === start) return undefined;
  const number = numberOf(reader.format.slice(start, reader.at));
  if (number === undefined) reader.at = reader.format.length;
  return number;
}

/** Returns the number, unless a further digit follows one that is too large already. */
function numberOf(digits: string): number | undefined {
  return Number(digits.slice(0, -1)) > LARGEST ? undefined : Number(digits);
}

/** Returns the next argument as width or precision. */
function intArgument(reader: Reader): number | undefined {
  const arg = reader.args[reader.next];
  if (arg === undefined) return undefined;
  reader.next++;
  const number = isInt(arg) ? Number(arg.value) : undefined;
  return number !== undefined && Math.abs(number) <= LARGEST ? number : undefined;
}

function printExtra(printer: Printer, args: readonly GoValue[]): void {
  clearFlags(printer);
  write(printer, '%!(EXTRA ');
  for (const [index, arg] of args.entries()) {
    if (index > 0) write(printer, ', ');
    if (arg === null) write(printer, '<nil>');
    else {
      write(printer, `${typeOf(arg).name}=`);
      printArg(printer, arg, 'v');
    }
  }
  write(printer, ')');
}
