import type { Comparison } from './summary.ts';

const WIDTH = 760;
const LABEL_WIDTH = 230;
const BAR_WIDTH = 420;
const BAR_HEIGHT = 18;
const LINE = 26;
const TITLE = 34;

/** Returns bars of all that is compared, as SVG for light and dark pages. */
export function toSvg(comparisons: readonly Comparison[]): string {
  let y = 0;
  const parts = comparisons.map(({ bars, title }) => {
    const most = Math.max(...bars.map(({ us }) => us));
    y += TITLE;
    const lines = [`<text class="title" x="0" y="${y - 10}">${escaped(title)}</text>`];
    for (const { isOurs, label, us } of bars) {
      const width = Math.max(2, (BAR_WIDTH * us) / most);
      const middle = y + BAR_HEIGHT - 4;
      lines.push(
        `<text x="${LABEL_WIDTH - 8}" y="${middle}" text-anchor="end">${escaped(label)}</text>`,
        `<rect class="${isOurs ? 'ours' : 'other'}" x="${LABEL_WIDTH}" y="${y}" width="${width.toFixed(1)}" height="${BAR_HEIGHT}" rx="2"/>`,
        `<text x="${(LABEL_WIDTH + width + 8).toFixed(1)}" y="${middle}">${us.toFixed(1)} µs</text>`,
      );
      y += LINE;
    }
    return lines.join('\n');
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" role="img">
<title>CPU time for what the gateway does, less is better</title>
<style>
text { font: 13px system-ui, sans-serif; fill: #333; }
.title { font-weight: 600; }
.ours { fill: #2a7d4f; }
.other { fill: #9aa0a6; }
@media (prefers-color-scheme: dark) { text { fill: #ddd; } .ours { fill: #58b883; } .other { fill: #70757a; } }
</style>
${parts.join('\n')}
</svg>
`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
