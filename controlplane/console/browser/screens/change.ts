import { useState } from 'preact/hooks';
import type {
  AccessChange,
  Difference,
  ResourceChange,
  RouteChange,
} from '#controlplane/diff/difference.ts';
import { shortName } from '../format.ts';
import { html, type Shown } from '../html.ts';
import { post } from '../live.ts';
import { Badge, Panel, Reason, Source, type Tone } from '../parts.ts';
import { ProblemLines } from '../problem-lines.ts';

type State = { readonly asking?: boolean; readonly answer?: Difference; readonly error?: string };

/** What was pasted. Links of the answer lead away from the screen. */
let draft = '';

/** What resources would change, before they are written. Nothing is changed here. */
export function Change(): Shown {
  const [text, set] = useState(draft);
  const setText = (next: string) => {
    draft = next;
    set(next);
  };
  const [state, setState] = useState<State>({});
  const ask = async (event: Event) => {
    event.preventDefault();
    setState({ asking: true });
    const question = { files: [{ name: 'pasted.yaml', text }], envoy: true };
    setState(
      await post<Difference>('change', question).then(
        answer => ({ answer }),
        (error: Error) => ({ error: error.message }),
      ),
    );
  };
  const take = async (file: File | undefined) => {
    if (file !== undefined) setText(await file.text());
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    void take(event.dataTransfer?.files[0]);
  };
  return html`<div class="head"><h1>Change</h1><span class="muted">What resources would change. Nothing is changed here</span></div>
    <div class="split">
      <section class="panel"><form class="fields body" style="padding-top: 14px" onSubmit=${ask} onDrop=${drop} onDragOver=${(event: Event) => event.preventDefault()}>
        <label class="field">Resources in YAML: paste them, or drop a file<textarea name="yaml" rows="22" required spellcheck=${false} value=${text} onInput=${(event: Event) => setText((event.target as HTMLTextAreaElement).value)}></textarea></label>
        <div class="row">
          <button class="main" disabled=${state.asking === true}>Compare</button>
          <label class="row muted">or open <input type="file" accept=".yaml,.yml" onChange=${(event: Event) => take((event.target as HTMLInputElement).files?.[0])} /></label>
        </div>
      </form></section>
      <div aria-live="polite">${
        state.error !== undefined
          ? html`<p class="notice bad"><${Reason} error=${state.error} /></p>`
          : state.answer !== undefined
            ? html`<${Answer} ...${state.answer} />`
            : html`<section class="panel"><p class="empty" style="padding-top: 14px">${state.asking ? 'Comparing …' : 'They are added to what is in force. What has the same kind and name is replaced.'}</p></section>`
      }</div>
    </div>`;
}

const EFFECTS: Readonly<Record<AccessChange['effect'], readonly [Tone, string]>> = {
  lost: ['bad', 'loses its Filter'],
  opened: ['bad', 'is opened'],
  replaced: ['warn', 'gets another Filter'],
  changed: ['warn', 'gets another rule'],
  gained: ['ok', 'gains a Filter'],
  closed: ['bad', 'is closed'],
};

const TONES: Readonly<Record<ResourceChange['change'], Tone>> = {
  added: 'ok',
  removed: 'warn',
  changed: 'plain',
  closed: 'bad',
  opened: 'warn',
};

function Answer(difference: Difference): Shown {
  const { access, envoy, isPartial, limits, problems, resources, routes, solved } = difference;
  const nothing = access.length + limits.length + resources.length + routes.length === 0;
  const rows = (all: Difference['problems']) =>
    all.map(problem => ({
      ...problem,
      id: `${problem.kind}/${problem.namespace}/${problem.name}`,
    }));
  return html`<div class="panels">
    ${
      problems.length === 0
        ? html`<p class="notice ok" style="grid-column: 1 / -1; margin: 0">${nothing ? 'It changes nothing.' : 'It has no Problem.'}</p>`
        : html`<${Panel} title="Problems that it brings" wide=${true}><${ProblemLines} problems=${rows(problems)} /><//>`
    }
    ${isPartial ? html`<p class="notice bad" style="grid-column: 1 / -1; margin: 0">Not all was tried, since routes of Gateways change very many hosts and paths. A loss of a Filter may be missing here: compare fewer resources at a time.</p>` : null}
    ${
      access.length === 0
        ? null
        : html`<${Panel} title="Who may get in" wide=${true}><ul class="lines">${access.map(
            change =>
              html`<li><div class="row"><${Badge} tone=${EFFECTS[change.effect][0]}>${EFFECTS[change.effect][1]}<//> <code>${change.host === '*' ? '' : change.host}${change.path}</code> ${(change.conditions ?? []).join(', ')}</div><div class="muted wrap">${accessText(change.before)} → ${accessText(change.after)}</div></li>`,
          )}</ul><//>`
    }
    ${routes.length === 0 ? null : html`<${Panel} title="Routes" wide=${true}><ul class="lines">${routes.map(change => html`<${RouteLine} ...${change} />`)}</ul><//>`}
    ${
      limits.length === 0
        ? null
        : html`<${Panel} title="Limits" wide=${true}><ul class="lines">${limits.map(
            ({ after, before, change, looser, name }) =>
              html`<li><div class="row"><${Badge} tone=${looser ? 'warn' : 'plain'}>${change}${looser ? ', looser' : ''}<//> <b>${name}</b></div><div class="wrap">${[before, after].filter(Boolean).join(' → ')}</div></li>`,
          )}</ul><//>`
    }
    ${resources.length === 0 ? null : html`<${Panel} title="Other resources" wide=${true}><ul class="lines">${resources.map(change => html`<${ResourceLine} ...${change} />`)}</ul><//>`}
    ${solved.length === 0 ? null : html`<${Panel} title="Problems that it solves" wide=${true}><${ProblemLines} problems=${rows(solved)} /><//>`}
    ${
      envoy.length === 0
        ? null
        : html`<${Panel} title="Envoy configuration" wide=${true}>${envoy.map(
            ({ group, patch, resource }) =>
              html`<details><summary>${resource} <span class="muted">of ${group}</span></summary><pre tabindex="0">${patch.split('\n').map(line => html`<span class=${line.startsWith('+') ? 'add' : line.startsWith('-') ? 'cut' : ''}>${line}\n</span>`)}</pre></details>`,
          )}<//>`
    }
  </div>`;
}

function accessText({ by, decision, filters }: AccessChange['before']): string {
  const words = decision === 'filters' ? filters.join(', ') : decision;
  return by === undefined ? words : `${words} (${by})`;
}

function RouteLine(change: RouteChange): Shown {
  const { after, before } = change;
  const facts = after ?? before;
  return html`<li><${ResourceHead} ...${change} />
    ${facts === undefined ? null : html`<div class="path wrap">${facts.host === '*' ? 'any host' : facts.host} ${facts.path} → ${facts.to}</div>`}
    <${Fields} ...${change} />
    ${(change.requests ?? []).map(({ after, before, conditions = [], host, path }) => html`<div class="wrap">requests <code>${host} ${path}</code> ${conditions.join(', ')}: <span class="muted">${before?.to ?? 'no route'} →</span> ${after?.to ?? 'no route'}</div>`)}</li>`;
}

function ResourceLine(change: ResourceChange): Shown {
  return html`<li><${ResourceHead} ...${change} /><${Fields} ...${change} /></li>`;
}

function ResourceHead({ change, file, id, line }: ResourceChange): Shown {
  return html`<div class="row"><${Badge} tone=${TONES[change]}>${change}<//> <b>${id.split('/')[0]} ${shortName(id)}</b> <${Source} file=${file} line=${line} /></div>`;
}

function Fields({ fields }: ResourceChange): Shown {
  return html`${fields.map(
    ({ after, before, field }) =>
      html`<div class="wrap"><code>${field}</code> <span class="muted">${before ?? 'not set'} →</span> ${after ?? 'not set'}</div>`,
  )}` as Shown;
}
