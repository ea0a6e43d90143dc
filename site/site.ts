import { Eleventy } from '@11ty/eleventy';

/**
 * Returns the site of all Markdown files in the working directory, to be written into a folder.
 * Eleventy knows no other directory.
 */
export function siteIn(folder: string): Eleventy {
  return new Eleventy('.', folder, { configPath: 'site/eleventy.config.ts', quietMode: true });
}
