import type { XdsResource } from '#xds/snapshot.ts';
import { type ContentSources, followContent } from './follow-content.ts';
import {
  type CertificateFacts,
  checkContent,
  factsOf,
  type SecretContent,
  secretResource,
} from './secret-content.ts';
import type { ServedSecret } from './served-secret.ts';

export type SlotOptions = ContentSources & {
  readonly versionKey: Uint8Array;
  /** The resource of the slot has changed. */
  onChange(): void;
  /** What came cannot be sent; what was sent before stays. Once for each reason. */
  onRefused(name: string, reason: string): void;
};

/** What was refused may be right later, when its time has come: it is looked at again after so long, in ms. */
const AGAIN_MS = 60_000;

/** One served secret: what it is to be, and the last content of it that may be sent. */
export class SecretSlot {
  readonly #options: SlotOptions;
  #served: ServedSecret;
  #resource: XdsResource | undefined;
  #facts: CertificateFacts | undefined;
  #problem: string | undefined;
  #end: () => void = () => {};
  #stopLooking: () => void = () => {};

  constructor(served: ServedSecret, options: SlotOptions) {
    this.#options = options;
    this.#served = served;
    this.#follow();
  }

  /** Another definition of the same name. What is sent stays until the new content has come and may be sent. */
  replace(served: ServedSecret): void {
    const sameContent = JSON.stringify(served.content) === JSON.stringify(this.#served.content);
    this.#served = served;
    if (!sameContent) this.#follow();
    else this.#options.onChange();
  }

  get served(): ServedSecret {
    return this.#served;
  }

  get resource(): XdsResource | undefined {
    return this.#resource;
  }

  get facts(): CertificateFacts | undefined {
    return this.#facts;
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  close(): void {
    this.#stopLooking();
    this.#end();
  }

  #follow(): void {
    this.close();
    this.#end = followContent(this.#served.content, this.#options, {
      onContent: next => this.#take(next),
      onTrouble: reason => {
        this.#stopLooking();
        this.#refuse(reason);
      },
    });
  }

  #take(next: SecretContent): void {
    this.#stopLooking();
    const { clock, versionKey, onChange } = this.#options;
    const wrong = checkContent(next, clock.now());
    if (wrong !== undefined) {
      this.#refuse(wrong);
      this.#stopLooking = clock.after(AGAIN_MS, () => this.#take(next));
      return;
    }
    this.#problem = undefined;
    this.#facts = factsOf(next);
    const resource = secretResource(this.#served.name, next, versionKey);
    if (resource.version === this.#resource?.version) return;
    this.#resource = resource;
    onChange();
  }

  #refuse(reason: string): void {
    if (reason !== this.#problem) this.#options.onRefused(this.#served.name, reason);
    this.#problem = reason;
  }
}
