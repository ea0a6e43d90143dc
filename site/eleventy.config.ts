import { amendMarkdown, type MarkdownIt } from './markdown.ts';
import { htmlPage } from './page.ts';

type Data = { readonly page: { readonly filePathStem: string } };

type EleventyConfig = {
  readonly ignores: { add(files: string): void };
  setTemplateFormats(formats: readonly string[]): void;
  amendLibrary(name: string, change: (markdown: MarkdownIt) => void): void;
  addGlobalData(name: string, value: () => (data: Data) => string): void;
  addTransform(
    name: string,
    transform: (this: { readonly page: { readonly url: string } }, content: string) => string,
  ): void;
  addWatchTarget(files: string): void;
  addPassthroughCopy(files: string): void;
};

// biome-ignore lint/style/noDefaultExport: Eleventy reads the default export.
export default function configure(eleventy: EleventyConfig): object {
  eleventy.setTemplateFormats(['md']);
  // Notes are parts of the pages of kinds. Templates of issues are no pages.
  for (const files of ['readme/notes/**', '.github/**']) eleventy.ignores.add(files);
  eleventy.amendLibrary('md', amendMarkdown);
  eleventy.addGlobalData(
    'permalink',
    () =>
      ({ page: { filePathStem } }) =>
        pathOf(filePathStem),
  );
  eleventy.addTransform('page', function (content) {
    return htmlPage(this.page.url.replace(/\/$/, '/index.html'), content);
  });
  eleventy.addWatchTarget('site/*.{ts,css}');
  for (const files of ['docs/**/*.jpg', 'docs/*.svg', 'docs/schemas/*.json'])
    eleventy.addPassthroughCopy(files);
  // Pages show templates of Go, which are not ours to fill in.
  return { markdownTemplateEngine: false };
}

function pathOf(stem: string): string {
  return `${stem.replace(/README$/, 'index')}.html`;
}
