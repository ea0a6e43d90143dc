import { siteIn } from './site.ts';

/** `npx node site/build.ts <folder>` writes the pages into a folder. */
await siteIn(process.argv[2] ?? '.gateway/site').write();
