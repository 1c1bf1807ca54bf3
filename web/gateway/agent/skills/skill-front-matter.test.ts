import { expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { parseSkill } from './skill-front-matter.ts';

const skill = (front: string, body = '# Tea\n') => parseSkill('tea', `---\n${front}\n---\n${body}`);
const base = 'name: tea\ndescription: Makes tea';

verifies('skills/format', 'name, description, and what a skill needs, as it is written in the wild', async () => {
  expect(await skill(`${base}\nlicense: MIT\ncompatibility: Needs a kettle\nallowed-tools: Bash(*)\nversion: 2`)).toEqual({
    name: 'tea',
    description: 'Makes tea',
    license: 'MIT',
    compatibility: 'Needs a kettle',
    userInvocable: true,
    programs: [],
    anyOf: [],
    variables: [],
    systems: [],
  });
  for (const metadata of [
    'metadata: {"openclaw": {"emoji": "x", "requires": {"bins": ["kettle", "cup"], "anyBins": ["a", "b"], "env": ["KEY"]}}}',
    'metadata:\n  author: me\n  requires:\n    bins: [kettle, cup, kettle]\n    anyBins: a b\n    env: KEY',
  ])
    expect(await skill(`${base}\n${metadata}`)).toMatchObject({ programs: ['kettle', 'cup'], anyOf: [['a', 'b']], variables: ['KEY'] });
  for (const metadata of [
    'metadata: {"openclaw": {"os": ["darwin", "linux", "win32"]}}',
    'metadata:\n  os: [macOS, Linux, Windows]',
    'metadata:\n  os: darwin linux win32 macos',
  ])
    expect(await skill(`${base}\n${metadata}`)).toMatchObject({ systems: ['darwin', 'linux', 'win32'] });
  expect(await skill('name: tea\ndescription: Makes tea. Use when: thirsty # now\nlicense: MIT')).toMatchObject({
    description: 'Makes tea. Use when: thirsty # now',
    license: 'MIT',
  });
  expect(await parseSkill('tea', '\uFEFF---\r\nname: tea\r\ndescription: >\r\n  Makes\r\n  tea\r\n---\r\nBody')).toMatchObject({
    description: 'Makes tea',
  });
});

verifies('skills/format', 'invalid front matter is reported, and has no effect', async () => {
  const wrong: [front: string, says: RegExp][] = [
    ['name: tea', /description/],
    ['description: x', /name/],
    ['name: Tea\ndescription: x', /lowercase/],
    ['name: a--b\ndescription: x', /single hyphens/],
    [`name: ${'a'.repeat(65)}\ndescription: x`, /64/],
    ['name: coffee\ndescription: x', /The name is coffee, but the folder is named tea/],
    [`name: tea\ndescription: ${'x'.repeat(1025)}`, /1,024/],
    ['name: tea\ndescription: "  "', /empty/],
    ['name: [tea\ndescription: x', /not valid YAML/],
    ['name: tea\nname: tea\ndescription: x', /not valid YAML/],
    ['- a\n- b', /^Invalid front matter/],
    ['', /^Invalid front matter|must start/],
    [`${base}\nmetadata: {requires: {bins: [1, 2]}}`, /metadata.requires/],
    [`a: &a [x]\n${base}\nmetadata: {other: *a}`, /^Couldn’t read/],
    [`${base}\nmetadata: ${'['.repeat(5000)}`, /not valid YAML|^Couldn’t read/],
    [`${base}\nmetadata: {requires: {bins: [${Array.from({ length: 51 }, (_, at) => `b${at}`).join(', ')}]}}`, /metadata.requires/],
  ];
  for (const [front, says] of wrong) expect(await skill(front), front.slice(0, 80)).toEqual({ problem: expect.stringMatching(says) });
  for (const text of ['', '# Tea', '---\nname: tea', 'x\n---\nname: tea\n---\n', `---\n${'#'.repeat(20_000)}\n---\n`])
    expect(await parseSkill('tea', text)).toEqual({ problem: expect.stringContaining('must start with front matter') });
  await skill(`${base}\n__proto__: {polluted: true}\nconstructor: {prototype: {polluted: true}}`);
  await skill(`${base}\nrun: !!js/function "function(){ globalThis.polluted = true }"`);
  expect('polluted' in {} || 'polluted' in globalThis).toBe(false);
});
