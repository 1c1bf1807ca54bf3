import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { skillsPort } from '#shared/ports/skills-port.ts';
import { createSkillsHandlers } from '../../../../bridge/capabilities/skills-handlers.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { FakeBridge, createCapability } from '../../../../tests/support/fake-bridge.ts';
import { createTestGateway } from '../../../../tests/support/test-gateway.ts';

const toSkillFile = (name: string, description: string, more = ''): string =>
  `---\nname: ${name}\ndescription: ${description}\n${more}---\n# ${name}\nDo it well.\n`;

/** A bridge with a folder of these files. */
async function createBridgeWith(files: Record<string, string>) {
  const dir = await mkdtemp(join(tmpdir(), 'perch-skills-'));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(dir, path, '..'), { recursive: true });
    await writeFile(join(dir, path), content);
  }
  const bridge = new FakeBridge(
    createCapability(skillsPort, createSkillsHandlers({ dir, env: { PATH: process.env.PATH, HAS_KEY: '1' }, platform: 'linux' })),
  );
  return { bridge, dir, [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }) };
}

const getSystemText = (call: { body: { messages: { content: unknown }[] } } | undefined): string => String(call?.body.messages[0]?.content);

describe('skills', () => {
  verifies(['skills.list/entries', 'skills/format'], 'of workspaces and the bridge, with what each lacks', async () => {
    await using skillsBridge = await createBridgeWith({
      'on-disk/SKILL.md': toSkillFile('on-disk', 'Lies on the disk', 'metadata: {requires: {bins: [node], env: [HAS_KEY]}}\n'),
      'lacking/SKILL.md': toSkillFile(
        'lacking',
        'Lacks much',
        'metadata: {openclaw: {requires: {bins: [node, no-such-bin], anyBins: [nope, neither], env: [NO_KEY]}}}\n',
      ),
      'broken/SKILL.md': '---\nname: [\n---\n',
    });
    await using gw = await createTestGateway({ bridge: skillsBridge.bridge });
    const { client } = await gw.client();
    await client.call('agents.add', { agent_id: 'writer', config: { workspace: 'writing' } });
    await client.call('workspace.write', { path: 'skills/tea/SKILL.md', content: toSkillFile('tea', 'Makes tea', 'license: MIT\n') });
    await client.call('workspace.write', { path: 'skills/none/readme.md', content: '' });
    await client.call('workspace.write', { path: 'skills/ode/SKILL.md', workspace: 'writing', content: toSkillFile('ode', 'Writes odes') });
    const { skills, count } = await client.call('skills.list', {});
    expect(count).toBe(6);
    const base = { missing: [], state: 'ready', source: 'workspace' };
    expect(skills).toEqual([
      { ...base, name: 'none', description: '', path: 'main/skills/none', state: 'invalid', problem: 'SKILL.md is missing' },
      { ...base, name: 'tea', description: 'Makes tea', path: 'main/skills/tea', license: 'MIT' },
      { ...base, name: 'ode', description: 'Writes odes', path: 'writing/skills/ode' },
      {
        ...base,
        name: 'broken',
        description: '',
        source: 'bridge',
        path: join(skillsBridge.dir, 'broken'),
        state: 'invalid',
        problem: expect.stringContaining('not valid YAML'),
      },
      {
        ...base,
        name: 'lacking',
        description: 'Lacks much',
        source: 'bridge',
        path: join(skillsBridge.dir, 'lacking'),
        state: 'missing',
        missing: ['no-such-bin', 'nope or neither', 'NO_KEY'],
      },
      { ...base, name: 'on-disk', description: 'Lies on the disk', source: 'bridge', path: join(skillsBridge.dir, 'on-disk') },
    ]);
    // A repaired skill is available at once.
    await client.call('workspace.write', { path: 'skills/none/SKILL.md', content: toSkillFile('none', 'Now there') });
    expect((await client.call('skills.list', {})).skills[0]).toMatchObject({ name: 'none', state: 'ready' });
    skillsBridge.bridge.detach();
    expect((await client.call('skills.list', {})).count).toBe(3);
    await client.call('workspace.write', {
      path: 'skills/tea/SKILL.md',
      content: toSkillFile('tea', 'Makes tea', 'metadata: {requires: {bins: [kettle]}}\n'),
    });
    expect((await client.call('skills.list', {})).skills.find(({ name }) => name === 'tea')).toMatchObject({
      state: 'missing',
      missing: ['kettle'],
      problem: 'Checking its requirements needs the bridge',
    });
    expect(gw.faults).toEqual([]);
  });

  verifies('skills.list/entries', 'one for other systems than the bridge’s, and for any where none is known', async () => {
    const on = (...systems: string[]): string =>
      toSkillFile('it', 'Works somewhere', `metadata: {openclaw: {os: [${systems.join(', ')}]}}\n`);
    await using skillsBridge = await createBridgeWith({ 'it/SKILL.md': on('darwin', 'win32') });
    await using gw = await createTestGateway({ bridge: skillsBridge.bridge });
    const { client } = await gw.client();
    const listed = async () => (await client.call('skills.list', {})).skills[0];
    expect(await listed()).toMatchObject({ state: 'missing', missing: ['macOS or Windows'] });
    await writeFile(join(skillsBridge.dir, 'it/SKILL.md'), on('darwin', 'linux'));
    expect(await listed()).toMatchObject({ state: 'ready', missing: [] });
    await client.call('workspace.write', { path: 'skills/it/SKILL.md', content: on('linux') });
    expect(await listed()).toMatchObject({ source: 'workspace', state: 'ready', missing: [] });
    skillsBridge.bridge.detach();
    expect(await listed()).toMatchObject({
      state: 'missing',
      missing: ['Linux'],
      problem: expect.stringContaining('needs the bridge'),
    });
  });

  verifies('skills/inert', 'a model knows the ready ones by name, and reads one by a tool', async () => {
    await using skillsBridge = await createBridgeWith({
      'tea/SKILL.md': toSkillFile('tea', 'Shadowed by the workspace'),
      'report/SKILL.md': toSkillFile('report', 'Writes reports', 'allowed-tools: exec file_write *\n'),
      'report/forms/short.md': 'Short form',
      'lacking/SKILL.md': toSkillFile('lacking', 'Lacks much', 'metadata: {requires: {bins: [no-such-bin]}}\n'),
    });
    const systemTexts: string[] = [];
    const calls = [
      { tool: 'skill_read', args: { name: 'report' } },
      { tool: 'skill_read', args: { name: 'report', file: 'forms/short.md' } },
      { tool: 'skill_read', args: { name: 'tea' } },
      { tool: 'skill_read', args: { name: 'report', file: '../../token' } },
      { tool: 'skill_read', args: { name: 'bad' } },
      { tool: 'skill_read', args: { name: 'none' } },
      { tool: 'file_write', args: { path: 'x', content: 'x' } },
    ];
    await using gw = await createTestGateway({
      bridge: skillsBridge.bridge,
      model({ body }) {
        const last = body.messages.at(-1);
        if (last?.role === 'tool') systemTexts.push(String(last.content));
        const next = calls[systemTexts.length];
        return next === undefined ? ['done'] : [next];
      },
    });
    const { client } = await gw.client();
    await client.call('config.patch', { patch: { agents: { main: { tools: { deny: ['file_write'] } } } } });
    await client.call('workspace.write', { path: 'skills/tea/SKILL.md', content: toSkillFile('tea', 'Makes tea') });
    await client.call('workspace.write', { path: 'skills/bad/SKILL.md', content: '# no front matter' });
    await client.call('chat.send', { message: 'a report' });
    const prompt = getSystemText(gw.calls[0]);
    expect(prompt).toMatch(/^- report: Writes reports$/m);
    expect(prompt).toMatch(/^- tea: Makes tea$/m);
    for (const hidden of ['lacking', 'bad', 'Shadowed', 'Do it well']) expect(prompt).not.toContain(hidden);
    expect(JSON.parse(systemTexts[0] ?? '')).toMatchObject({
      name: 'report',
      file: 'SKILL.md',
      content: expect.stringContaining('Do it well.'),
      files: ['forms/short.md'],
      nextOffset: null,
    });
    expect(JSON.parse(systemTexts[1] ?? '')).toMatchObject({ content: 'Short form' });
    expect(systemTexts[2]).toContain('Makes tea');
    expect(systemTexts[3]).toMatch(/"error":"No file .* in the skill report/);
    expect(systemTexts[4]).toMatch(/"error":"Skill bad can’t be used: SKILL.md must start/);
    expect(systemTexts[5]).toMatch(/"error":"No skill with name \\"none\\"\. Available: tea, report/);
    // A skill does not get the tools that it requests.
    expect(systemTexts[6]).toMatch(/"error":"Unknown tool \\"file_write\\"/);
    const offered = (gw.calls.at(-1)?.body.tools ?? []).map((tool) => (tool as { function: { name: string } }).function.name);
    expect(offered).not.toContain('file_write');
    // Without the tool that reads them there is nothing to tell of.
    await client.call('config.patch', { patch: { agents: { main: { tools: { deny: ['skill_*'] } } } } });
    await client.call('chat.send', { message: 'again' });
    expect(getSystemText(gw.calls.at(-1))).not.toContain('Skills');
    expect(gw.faults).toEqual([]);
  });

  verifies('skills/inert', 'a run goes on where the bridge does not answer', async () => {
    const clock = new FakeClock();
    const handlers = createSkillsHandlers({ dir: '/none' });
    const bridge = new FakeBridge(createCapability(skillsPort, { ...handlers, list: () => new Promise(() => {}) }));
    await using gw = await createTestGateway({ bridge, clock });
    const { client } = await gw.client();
    await client.call('workspace.write', { path: 'skills/tea/SKILL.md', content: toSkillFile('tea', 'Makes tea') });
    const pendingSend = client.call('chat.send', { message: 'hi' });
    await clock.waitForTimer(2_000);
    clock.advance(2_000);
    expect(await pendingSend).toMatchObject({ completed: true });
    expect(getSystemText(gw.calls[0])).toContain('- tea: Makes tea');
  });

  verifies(
    'skills/called',
    'a message that begins with its name has its instructions before the model, for that message alone',
    async () => {
      await using gw = await createTestGateway({ model: () => ['done'] });
      const { client } = await gw.client();
      const write = (name: string, more = ''): Promise<unknown> =>
        client.call('workspace.write', { path: `skills/${name}/SKILL.md`, content: toSkillFile(name, `About ${name}`, more) });
      await write('tea', 'license: MIT\n');
      await client.call('workspace.write', { path: 'skills/tea/pots.md', content: 'Pots' });
      await write('secret', 'user-invocable: false\n');
      await write('lacking', 'metadata: {requires: {bins: [kettle]}}\n');
      const getSystemTextFor = async (message: string): Promise<string> => {
        await client.call('chat.send', { message });
        return gw.calls.at(-1)?.context ?? '';
      };
      const called = await getSystemTextFor('/tea green, please');
      expect(called).toContain('Do it well.');
      expect(called).toContain('pots.md');
      expect(gw.calls.at(-1)?.body.messages.at(-1)?.content).toBe('/tea green, please');
      expect(await getSystemTextFor('/tea')).toContain('Do it well.');
      for (const other of ['And now?', 'tea', '/teapot', '/tea/x', 'I like /tea', '/secret', '/lacking', '/none'])
        expect(await getSystemTextFor(other), other).not.toContain('Do it well.');
      const { skills } = await client.call('skills.list', { agentId: 'main' });
      expect(skills.map(({ name, state, userInvocable }) => [name, state, userInvocable])).toEqual([
        ['lacking', 'missing', undefined],
        ['secret', 'ready', false],
        ['tea', 'ready', undefined],
      ]);
      await expect(client.call('skills.list', { agentId: 'nobody' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
      expect(gw.faults).toEqual([]);
    },
  );
});
