// Run `node deploy/image/write-program.ts FOLDER`. It makes FOLDER, with what the image runs.
// Envoy's API must have been made.
import { buildProgram } from '../../release/build-package.ts';
import { OF_IMAGE } from '../../release/bundle.ts';

const [, , folder] = process.argv;
if (folder === undefined) throw new Error('want the folder to write to');
buildProgram(folder, OF_IMAGE);
