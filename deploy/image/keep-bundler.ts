// Run `node keep-bundler.ts` in a folder with copies of package.json and package-lock.json. Then
// `npm install` installs the bundler there and nothing else, in its locked version.
import { readFileSync, writeFileSync } from 'node:fs';

const { esbuild } = JSON.parse(readFileSync('package.json', 'utf8')).devDependencies;
writeFileSync('package.json', JSON.stringify({ dependencies: { esbuild } }));
