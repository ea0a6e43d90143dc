/**
 * Splits text that comes in pieces at its line feeds. A line over `maxLength` characters throws an
 * Error, so that memory is bounded.
 */
export function lineSplitter(
  maxLength: number,
  onLine: (line: string) => void,
): (piece: string) => void {
  let parts: string[] = [];
  let length = 0;
  return piece => {
    const lines = piece.split('\n');
    const last = lines.pop() ?? '';
    for (const line of lines) {
      const whole = parts.length === 0 ? line : parts.join('') + line;
      parts = [];
      length = 0;
      onLine(whole);
    }
    if (last !== '') parts.push(last);
    length += last.length;
    if (length > maxLength) throw new Error(`a line has more than ${maxLength} characters`);
  };
}
