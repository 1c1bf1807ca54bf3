import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { SKILL_LIMITS } from '#shared/ports/skills-port.ts';
import { verifies } from '../../tests/requirements.ts';
import { MAX_FOLDERS, createSkillsHandlers } from './skills-handlers.ts';

let home: string;
let dir: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'perch-skills-'));
  dir = join(home, 'skills');
});
afterEach(() => rm(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));

const call = { signal: new AbortController().signal, send: () => {} };

async function put(path: string, content: string | Buffer): Promise<void> {
  const full = join(dir, path);
  await mkdir(join(full, '..'), { recursive: true });
  await writeFile(full, content);
}

verifies(
  ['skills/bridge-folder', 'skills.list/entries'],
  'returns folders with their SKILL.md and other files; none without a folder',
  async () => {
    const handlers = createSkillsHandlers({ dir });
    expect(await handlers.list({}, call)).toEqual({ skills: [] });
    await put('tea/SKILL.md', '---\nname: tea\n---\n');
    await put('tea/scripts/boil.sh', '#!/bin/sh\n');
    await put('tea/a.md', 'a');
    await put('empty/other.md', '');
    await put('.hidden/SKILL.md', '');
    await put('file.md', '');
    expect(await handlers.list({}, call)).toEqual({
      skills: [
        { folder: 'empty', path: join(dir, 'empty'), text: null, problem: 'SKILL.md is missing', files: [] },
        { folder: 'tea', path: join(dir, 'tea'), text: '---\nname: tea\n---\n', files: ['a.md', 'scripts/boil.sh'] },
      ],
    });
    expect(await handlers.read({ folder: 'tea', file: 'scripts/boil.sh' }, call)).toEqual({ text: '#!/bin/sh\n', truncated: false });
  },
);

verifies('skills/bridge-folder', 'links that lead out, pipes, folders, huge files and bytes are never read', async () => {
  await writeFile(join(home, 'token'), 'a secret');
  await mkdir(join(home, 'outside'));
  await writeFile(join(home, 'outside', 'SKILL.md'), 'a secret');
  await put('link/SKILL.md', 'x');
  await symlink('../../token', join(dir, 'link', 'token'));
  await symlink('SKILL.md', join(dir, 'link', 'own'));
  await mkdir(join(dir, 'linked'));
  await symlink('../../token', join(dir, 'linked', 'SKILL.md'));
  await symlink('../outside', join(dir, 'out'));
  await symlink('loop', join(dir, 'loop'));
  await mkdir(join(dir, 'pipe'));
  execFileSync('mkfifo', [join(dir, 'pipe', 'SKILL.md')]);
  await mkdir(join(dir, 'folder', 'SKILL.md'), { recursive: true });
  await put('huge/SKILL.md', Buffer.alloc(SKILL_LIMITS.chars + 1, 97));
  await put('bytes/SKILL.md', Buffer.from([0xff, 0xfe, 0xfd]));
  await put('nul/SKILL.md', 'a\0b');
  const handlers = createSkillsHandlers({ dir });
  const { skills } = await handlers.list({}, call);
  expect(Object.fromEntries(skills.map(({ folder, text, problem }) => [folder, problem ?? text]))).toEqual({
    bytes: 'SKILL.md is not a text file',
    folder: 'SKILL.md is not a regular file',
    huge: 'SKILL.md is larger than 256 KiB',
    link: 'x',
    linked: 'SKILL.md links outside the skill’s folder',
    loop: 'Couldn’t read SKILL.md (ELOOP)',
    nul: 'SKILL.md is not a text file',
    out: 'The folder links outside the skills folder',
    pipe: 'SKILL.md is not a regular file',
  });
  expect(skills.find(({ folder }) => folder === 'link')?.files).toEqual([]);
  const refused: [folder: string, file: string, code: string][] = [
    ['link', 'token', 'INVALID_PARAMS'],
    ['link', '../../token', 'NOT_FOUND'],
    ['..', 'token', 'NOT_FOUND'],
    ['out', 'SKILL.md', 'INVALID_PARAMS'],
    ['link', '/etc/passwd', 'NOT_FOUND'],
    ['link', 'none', 'NOT_FOUND'],
    ['pipe', 'SKILL.md', 'INVALID_PARAMS'],
    ['nul', 'SKILL.md', 'INVALID_PARAMS'],
  ];
  for (const [folder, file, code] of refused)
    await expect(handlers.read({ folder, file }, call), `${folder}/${file}`).rejects.toMatchObject({ code });
  expect(await handlers.read({ folder: 'link', file: 'own' }, call)).toEqual({ text: 'x', truncated: false });
  await put('tea/long.md', 'ü'.repeat(SKILL_LIMITS.chars));
  const long = await handlers.read({ folder: 'tea', file: 'long.md' }, call);
  expect([long.truncated, long.text.length]).toEqual([true, SKILL_LIMITS.chars / 2]);
});

verifies('skills/bridge-folder', 'one of endless folders is looked at up to a limit', async () => {
  await put('maze/SKILL.md', 'x');
  await put('maze/a.md', 'x');
  await Promise.all(Array.from({ length: MAX_FOLDERS }, (_, n) => mkdir(join(dir, 'maze', 'in', String(n)), { recursive: true })));
  await put('maze/out/beyond.md', 'x');
  const { skills } = await createSkillsHandlers({ dir }).list({}, call);
  expect(skills).toMatchObject([{ text: 'x', files: ['a.md'] }]);
});

verifies('skills.list/entries', 'programs are looked for on the path, variables in the environment', async () => {
  await put('bin/there', '');
  await chmod(join(dir, 'bin/there'), 0o755);
  await put('bin/not-executable', '');
  const { missing } = createSkillsHandlers({ dir, env: { PATH: join(dir, 'bin'), KEY: 'x', EMPTY: '' }, platform: 'darwin' });
  expect(
    await missing(
      {
        programs: ['there', 'not-executable', 'none', '../bin/there', '/bin/sh'],
        variables: ['KEY', 'EMPTY', 'NONE', 'A B', 'constructor'],
      },
      call,
    ),
  ).toEqual({
    programs: ['not-executable', 'none', '../bin/there', '/bin/sh'],
    variables: ['EMPTY', 'NONE', 'A B', 'constructor'],
    platform: 'darwin',
  });
});
