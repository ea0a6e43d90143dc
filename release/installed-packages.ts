import type { Recorded } from '../deploy/image/software-bill.ts';
import manifest from '../package.json' with { type: 'json' };
import lock from '../package-lock.json' with { type: 'json' };

type Locked = Recorded & { readonly dev?: boolean };

/** These bring a Node.js to a checkout. The published package needs the user's own alone. */
const OF_A_CHECKOUT = new Set(
  Object.keys(manifest.optionalDependencies).map(name => `node_modules/${name}`),
);

/**
 * Returns the packages that are installed with ours, by their path in the lock file. Those that are
 * optional for one of them are among them. npm may install newer versions of those that others of
 * them need.
 */
export function installedPackages(): readonly (readonly [string, Recorded])[] {
  const packages: Readonly<Record<string, Locked>> = lock.packages;
  return Object.entries(packages).filter(
    ([path, { dev }]) => path !== '' && !dev && !OF_A_CHECKOUT.has(path),
  );
}
