import { pick } from '#protos/testing/random.ts';
import { damage, oddValue } from './odd-values.ts';

const METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PATCH',
  'CONNECT',
  'x',
];
/** Characters between two parts of a request that have a meaning of their own. */
const PARTS = /([\r\n /?&=:;,.{}[\]"+%]+)/;

/** Returns an HTTP/1.1 request that differs from this one in a few places. */
export function mutateRequest(text: string, random: () => number): Buffer {
  const bytes = Buffer.from(text);
  const ways = [
    () => damage(bytes, random),
    () => Buffer.from(text.replace(/^\w+/, pick(METHODS, random))),
    () => replacePart(text, random),
    () => replacePart(text, random),
    () => replacePart(text, random),
    () => fixLength(replacePart(text, random)),
    () => fixLength(replacePart(text, random)),
    () => Buffer.from(text.replace('\r\n', `\r\n${randomHeader(random)}\r\n`), 'latin1'),
    () => Buffer.concat([bytes, damage(bytes, random)]),
  ];
  return pick(ways, random)();
}

function replacePart(text: string, random: () => number): Buffer {
  const parts = text.split(PARTS);
  const at = Math.floor(random() * parts.length);
  return Buffer.concat(
    parts.map((part, index) => (index === at ? oddValue(random) : Buffer.from(part))),
  );
}

/** Corrects the length of the body, so that the body is read. */
function fixLength(bytes: Buffer): Buffer {
  const end = bytes.indexOf('\r\n\r\n') + 4;
  const head = bytes.subarray(0, end).toString('latin1');
  const length = `Content-Length: ${bytes.length - end}`;
  return Buffer.concat([
    Buffer.from(head.replace(/Content-Length: \d+/, length), 'latin1'),
    bytes.subarray(end),
  ]);
}

function randomHeader(random: () => number): string {
  const name = pick(
    ['Cookie', 'Expect', 'Transfer-Encoding', 'Upgrade', 'Range', 'Content-Encoding'],
    random,
  );
  const value = pick(['chunked', '100-continue', 'h2c', 'gzip', 'bytes=0-', 'a=b; a=c'], random);
  return `${name}: ${random() < 0.5 ? value : oddValue(random).toString('latin1')}`;
}
