import { type Budget, checkLength } from './budget.ts';
import { runeCount } from './go-string.ts';

/** Flags, width and precision of one verb of a format. `plusV` and `sharpV` are `%+v` and `%#v`. */
export type Flags = {
  width: number | undefined;
  precision: number | undefined;
  minus: boolean;
  plus: boolean;
  sharp: boolean;
  space: boolean;
  zero: boolean;
  plusV: boolean;
  sharpV: boolean;
};

/**
 * A text that print, println or printf puts together. `isError` means that the output explains a
 * wrong verb.
 */
export type Printer = Flags & { out: string; readonly budget: Budget; isError: boolean };

export function printerOf(budget: Budget): Printer {
  return { ...NO_FLAGS, out: '', budget, isError: false };
}

const NO_FLAGS: Readonly<Flags> = {
  width: undefined,
  precision: undefined,
  minus: false,
  plus: false,
  sharp: false,
  space: false,
  zero: false,
  plusV: false,
  sharpV: false,
};

export function clearFlags(printer: Printer): void {
  Object.assign(printer, NO_FLAGS);
}

export function write(printer: Printer, text: string): void {
  checkLength(printer.budget, printer.out.length + text.length);
  printer.out += text;
}

/**
 * Writes a text padded to the width. It is padded with zeros only if `zero` is set and the fill
 * goes before it.
 */
export function pad(printer: Printer, text: string, zero = printer.zero): void {
  const missing = (printer.width ?? 0) - (printer.width === undefined ? 0 : runeCount(text));
  if (missing <= 0) write(printer, text);
  else if (printer.minus) write(printer, text + fill(printer, missing, false));
  else write(printer, fill(printer, missing, zero) + text);
}

/** Returns this many fill characters, if the output may be that long. */
export function fill(printer: Printer, count: number, zero: boolean): string {
  checkLength(printer.budget, printer.out.length + count);
  return (zero ? '0' : ' ').repeat(Math.max(count, 0));
}
