import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '..', '..');

describe('the site', () => {
  const folder = mkdtempSync(join(tmpdir(), 'site-'));
  const pages = new Map<string, string>();
  before(async () => {
    await promisify(execFile)(process.execPath, ['site/build.ts', folder], { cwd: ROOT });
    for (const name of globSync('**/*.html', { cwd: folder }))
      pages.set(name, readFileSync(join(folder, name), 'utf8'));
  });
  after(() => rmSync(folder, { recursive: true }));

  test('has a page for each page of docs', () => {
    for (const file of globSync('docs/**/*.md', { cwd: ROOT }))
      assert.ok(pages.has(file.replace(/README\.md$/, 'index.md').replace(/md$/, 'html')), file);
  });

  test('has no dead link', () => {
    assert.deepEqual(
      [...pages].flatMap(([name, html]) => deadLinks(name, html)),
      [],
    );
  });

  test('has the schemas for editors, where the one of all kinds leads', () => {
    const schemas = join(folder, 'docs/schemas');
    const all = readFileSync(join(schemas, 'all.json'), 'utf8');
    const refs = [...all.matchAll(/"\$ref": "(\.\/.*)"/g)].map(([, ref = '']) => ref);
    assert.ok(refs.length > 20);
    for (const ref of refs) assert.ok(existsSync(join(schemas, ref)), ref);
  });

  test('finds dead links', () => {
    const dead = ['nowhere.html', '#nowhere', 'README.md'];
    const html = dead.map(link => `<a href="${link}">`).join();
    assert.deepEqual(
      deadLinks('index.html', html),
      dead.map(link => `index.html: ${link}`),
    );
  });

  test('loads nothing from elsewhere and runs nothing', () => {
    for (const [name, html] of pages) {
      const others = html.replaceAll(/<img src="([^":]*\.(?:jpg|svg))"/g, (_, image) => {
        assert.ok(existsSync(join(folder, dirname(name), image)), `${name}: ${image}`);
        return '';
      });
      assert.doesNotMatch(others, /<script|<iframe|<link|@import|\ssrc=|url\((?!#)/, name);
    }
  });

  test('has every diagram drawn', () => {
    for (const file of globSync('{*,docs/**/*}.md', { cwd: ROOT })) {
      const wanted = readFileSync(join(ROOT, file), 'utf8').match(/^```mermaid$/gm)?.length ?? 0;
      const html = pages.get(file.replace(/README\.md$/, 'index.md').replace(/md$/, 'html'));
      assert.equal(html?.match(/<figure><svg/g)?.length ?? 0, wanted, file);
    }
  });

  function deadLinks(name: string, html: string): readonly string[] {
    const links = [...html.matchAll(/ href="([^"]*)"/g)].map(([, link = '']) => link);
    return links
      .filter(link => !/^(https?|mailto):/.test(link))
      .filter(link => {
        const [path = '', heading] = decodeURI(link).split('#');
        const target = path === '' ? name : join(dirname(name), path);
        const page = pages.get(target);
        return page === undefined || (heading !== undefined && !page.includes(` id="${heading}"`));
      })
      .map(link => `${name}: ${link}`);
  }
});
