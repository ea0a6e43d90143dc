import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandProblem } from './shown-commands.ts';

for (const [line, problem] of [
  ['npm start -- --instances 0 --resources my-site/resources', undefined],
  ['npm start -- --instance 0', /no option --instance$/],
  ['npx tollwright explain GET', /does not take 1 arguments/],
  ['npx tollwright explain GET /books extra', /does not take 3 arguments/],
  ['npx tollwright valdate my-site', /no command valdate/],
  ['LOG_LEVEL=debug npx tollwright status', undefined],
  ['docker compose exec -T controlplane node cli/main.js status --jsn', /no option --jsn/],
  ['docker compose exec -T sdss cat roots.pem > roots.pem', /no service sdss/],
  ['kubectl apply -k deploy/kubernetes/nowhere', /no deploy\/kubernetes\/nowhere/],
  ["openssl rand -hex 32 | tr -d '\\n' | kubectl -n gateway get stores", /no definition .* stores/],
  ['kubectl -n gateway rollout status deployment/edges', /no manifest .* edges/],
  ['kubectl -n gateway-resources get mappings,hosts # all of them', undefined],
  ['sudo reboot', /not in PROGRAMS: sudo/],
] as const) {
  test(`"${line}" ${problem === undefined ? 'is right' : 'is wrong'}`, async () => {
    const found = await commandProblem(line);
    if (problem === undefined) assert.equal(found, undefined);
    else assert.match(found ?? '', problem);
  });
}
