import type { Drained } from '#files/drained-store.ts';
import { ActForm } from './act.ts';
import { html, type Shown } from './html.ts';

/** A drained instance gets no new requests, and ends those that it has. */
export function Drain({ address, drained, port }: Drained & { readonly drained: boolean }): Shown {
  const text = addressText({ address, port });
  return html`<${ActForm} action="drain" button=${drained ? 'Serve again' : 'Drain'}
    read=${() => ({ address, port, drained: !drained })}
    ask=${drained ? `Send requests to ${text} again?` : `Send no new requests to ${text}?`} />`;
}

export function addressText({ address, port }: Drained): string {
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
}
