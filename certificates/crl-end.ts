/** A value in DER: its tag, and its content. See X.690, section 8.1. */
type Item = { readonly tag: number; readonly content: Buffer };

const NOTHING = Buffer.alloc(0);
const UTC_TIME = 0x17;
const GENERALIZED_TIME = 0x18;

/**
 * Returns when a revocation list (DER) ends, in ms since the epoch. See RFC 5280, section 5.1.2.5.
 * @returns undefined when it does not say, or cannot be read
 */
export function crlEnd(der: Buffer): number | undefined {
  const [list] = itemsIn(der);
  const [signed] = itemsIn(list?.content ?? NOTHING);
  const times = itemsIn(signed?.content ?? NOTHING).filter(
    ({ tag }) => tag === UTC_TIME || tag === GENERALIZED_TIME,
  );
  // thisUpdate, and then nextUpdate.
  return times[1] && timeOf(times[1]);
}

function itemsIn(der: Buffer): readonly Item[] {
  const items: Item[] = [];
  for (let at = 0; at + 2 <= der.length; ) {
    const first = der.readUInt8(at + 1);
    const more = first < 0x80 ? 0 : first & 0x7f;
    const from = at + 2 + more;
    if (more > 4 || from > der.length) break;
    const length = more === 0 ? first : der.readUIntBE(at + 2, more);
    items.push({ tag: der.readUInt8(at), content: der.subarray(from, from + length) });
    at = from + length;
  }
  return items;
}

/** A year of two digits is of this century up to 49. See RFC 5280, section 4.1.2.5. */
function timeOf({ content, tag }: Item): number | undefined {
  const text = content.toString('latin1');
  const century = Number(text.slice(0, 2)) < 50 ? '20' : '19';
  const whole = tag === UTC_TIME ? century + text : text;
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(whole) ?? [];
  const [year, month, day, hour, minute, second] = parts.map(Number);
  return year === undefined || month === undefined
    ? undefined
    : Date.UTC(year, month - 1, day, hour, minute, second);
}
