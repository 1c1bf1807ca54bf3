import { expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { parseBody } from './parse-body.ts';
import { PRESETS } from './presets/index.ts';
import { readJsonPath } from './read-json-path.ts';
import { findUnknownPlaceholder, renderTemplate } from './render-template.ts';

const PAYLOAD = {
  issue: { title: 'Broken', labels: [{ name: 'bug' }, { name: 'ui' }] },
  'a.b': { 'c-d': 1 },
  $ref: '$&',
  none: null,
};
const values = { message: 'A call', event: 'issues.opened', payload: PAYLOAD };

verifies('hooks/presets', 'a template shows values of the body', () => {
  expect(renderTemplate('{{message}}: {{$.issue.title}} ({{ $.issue.labels[*].name }}) {{$.issue.labels[1].name}}', values)).toBe(
    'A call: Broken (bug, ui) ui',
  );
  expect(renderTemplate(`{{$['a.b']["c-d"]}}|{{$["a.b"].c-d}}|{{$.none}}|{{$.issue.missing.deep}}|{{$.$ref}}`, values)).toBe('1|1|||$&');
  expect(renderTemplate('{{event}} {{$.issue.labels[0]}}', values)).toBe('issues.opened {"name":"bug"}');
  expect(renderTemplate('{{body}}', values)).toContain('"title": "Broken"');
  expect(renderTemplate('{{$.long}}', { ...values, payload: { long: 'x'.repeat(100_000) } })).toHaveLength(4_001);
  expect(readJsonPath({}, '$.constructor.name')).toEqual([]);
});

verifies('hooks/presets', 'an unknown placeholder is found', () => {
  expect(findUnknownPlaceholder('{{message}} {{$.a[*].b}} {{event}}')).toBeUndefined();
  expect(findUnknownPlaceholder('{{issue.title}}')).toBe('issue.title');
  expect(findUnknownPlaceholder('{{$..a}}')).toBe('$..a');
});

const summarize = (preset: keyof typeof PRESETS, headers: Record<string, string>, payload: unknown) =>
  PRESETS[preset].summarize(new Headers(headers), payload);

verifies('hooks/presets', 'events of the platforms have readable texts', () => {
  const repository = { full_name: 'octo/app' };
  const sender = { login: 'ana' };
  expect(
    summarize(
      'github',
      { 'x-github-event': 'push' },
      {
        repository,
        sender,
        ref: 'refs/heads/main',
        commits: [{ id: '0123456789', message: 'Fix it\n\nDetails' }],
        compare: 'https://x.test/c',
      },
    ),
  ).toEqual({ event: 'push', message: 'GitHub: push to main in octo/app by ana\n- 0123456 Fix it\nhttps://x.test/c' });
  expect(
    summarize(
      'github',
      { 'x-github-event': 'pull_request' },
      { repository, sender, action: 'closed', number: 7, pull_request: { merged: true, title: 'New', html_url: 'https://x.test/7' } },
    ),
  ).toEqual({ event: 'pull_request.closed', message: 'GitHub: pull request #7 merged in octo/app by ana\nNew\nhttps://x.test/7' });
  expect(summarize('github', { 'x-github-event': 'ping' }, { zen: 'x', repository })).toMatchObject({ isPing: true });
  expect(summarize('gitlab', { 'x-gitlab-event-uuid': 'u1' }, PRESETS.gitlab.sample.payload)).toEqual({
    ...{ event: 'pipeline', id: 'u1' },
    message: 'GitLab: pipeline #1 failed in group/project by root\nmain\nhttps://gitlab.com/group/project/-/pipelines/1',
  });
  expect(summarize('stripe', {}, PRESETS.stripe.sample.payload)).toEqual({
    ...{ event: 'payment_intent.succeeded', id: 'evt_sample' },
    message: 'Stripe: payment_intent.succeeded (test mode)\npayment_intent pi_sample\nAmount: 42.00 EUR\nStatus: succeeded',
  });
  expect(summarize('sentry', { 'sentry-hook-resource': 'issue' }, PRESETS.sentry.sample.payload)).toEqual({
    event: 'issue.created',
    message:
      'Sentry: issue created\nTypeError: x is not a function\napp.js in render\nProject: web\nLevel: error\nhttps://sentry.io/organizations/example/issues/1/',
  });
  expect(summarize('json', { 'idempotency-key': 'k' }, { type: 'deploy', text: 'Done' })).toEqual({
    event: 'deploy',
    message: 'Done',
    id: 'k',
  });
  for (const payload of [null, 1, [], 'text', { repository: null, commits: 'x' }])
    for (const preset of Object.keys(PRESETS) as (keyof typeof PRESETS)[])
      expect(typeof summarize(preset, { 'x-github-event': 'push' }, payload).message).toBe('string');
});

verifies('hooks/limits', 'a body is JSON in UTF-8, or a form with it', () => {
  const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
  expect(parseBody('application/json', encode('{"a":1}'))).toEqual({ a: 1 });
  expect(parseBody(null, encode(''))).toEqual({});
  expect(parseBody('application/x-www-form-urlencoded', encode(`payload=${encodeURIComponent('{"a":"ü"}')}`))).toEqual({ a: 'ü' });
  expect(() => parseBody('application/json', encode('{'))).toThrow();
  expect(() => parseBody('application/json', new Uint8Array([0x22, 0xff, 0x22]))).toThrow();
});
