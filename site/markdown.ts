import { renderMermaidSVG } from 'beautiful-mermaid';
import { headingName } from '../readme/heading-name.ts';

type Token = {
  readonly content: string;
  readonly info: string;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
};
type Rule = (
  tokens: Token[],
  index: number,
  options: object,
  env: object,
  self: Renderer,
) => string;
type Renderer = {
  rules: Record<string, Rule | undefined>;
  renderToken(tokens: Token[], index: number, options: object): string;
};

/** The part of markdown-it that is used here. */
export type MarkdownIt = { set(options: object): MarkdownIt; readonly renderer: Renderer };

const COLOURS = {
  bg: '#ffffff',
  fg: '#1c1e21',
  line: '#51565d',
  muted: '#3a3e44',
  transparent: true,
};

/**
 * Changes how Markdown is rendered: diagrams are drawn, headings have names, links lead to pages.
 */
export function amendMarkdown(markdown: MarkdownIt): void {
  const { rules } = markdown.set({ html: false }).renderer;
  const plainFence = rules.fence;
  rules.fence = (tokens, index, options, env, self) => {
    const { info = '', content = '' } = tokens[index] ?? {};
    if (info.trim() === 'mermaid') return diagram(content);
    return plainFence?.(tokens, index, options, env, self) ?? '';
  };
  rules.heading_open = (tokens, index, options, _env, self) => {
    tokens[index]?.attrSet('id', headingName(tokens[index + 1]?.content ?? ''));
    return self.renderToken(tokens, index, options);
  };
  rules.link_open = (tokens, index, options, _env, self) => {
    const link = tokens[index];
    link?.attrSet('href', toPage(link.attrGet('href') ?? ''));
    return self.renderToken(tokens, index, options);
  };
}

/** Returns a diagram as SVG. The library would load its font from elsewhere. */
function diagram(text: string): string {
  const svg = renderMermaidSVG(text, COLOURS).replace(/@import url\([^)]*\);?/g, '');
  return `<figure>${svg}</figure>\n`;
}

/**
 * Returns where a link leads on the site: `../how-to/stream.md#grpc` is
 * `../how-to/stream.html#grpc`.
 */
function toPage(href: string): string {
  if (/^[a-z]+:/i.test(href)) return href;
  return href.replace(/README\.md(?=#|$)/, 'index.md').replace(/\.md(?=#|$)/, '.html');
}
