import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from '#shared/rpc/zod.ts';
import { DEFAULT_PORT } from '#shared/link/default-port.ts';
import { temporaryFolder } from '../../bridge/journal/fixture.ts';
import { createProgram } from '../../bridge/cli/program.ts';
import { startTestBridge } from '../../bridge/server/tests/test-bridge.ts';
import { createNatsConfiguration } from '../../bridge/sync/permissions.ts';
import { hasNats, NATS_PROGRAM } from '../../bridge/sync/tests/nats-server.ts';
import { verifies } from '../requirements.ts';

const deploy = join(import.meta.dirname, '../../deploy');
const readDeployFile = (name: string): string => readFileSync(join(deploy, name), 'utf8');

const healthcheck = z.object({ test: z.array(z.string()).min(2) });
const service = z.object({
  image: z.string(),
  command: z.array(z.string()).optional(),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()),
  env_file: z.string().optional(),
  environment: z.record(z.string(), z.string()).default({}),
  healthcheck: healthcheck.optional(),
  build: z.object({ context: z.string(), dockerfile: z.string() }).optional(),
  security_opt: z.array(z.string()).default([]),
});
const compose = z.object({ services: z.record(z.string(), service), volumes: z.record(z.string(), z.null()) });
type ComposeService = z.infer<typeof service>;

const composeFile = compose.parse(parse(readDeployFile('compose.yaml'), { merge: true }));
const getServices = (prefix: string): [string, ComposeService][] =>
  Object.entries(composeFile.services).filter(([name]) => name.startsWith(prefix));

/** The words of an instruction of a Dockerfile that is written as JSON. */
const readInstruction = (name: string): string[] =>
  z.array(z.string()).parse(JSON.parse(new RegExp(`^${name} (\\[.*\\])$`, 'm').exec(readDeployFile('Dockerfile'))?.[1] ?? '[]'));

/** The image's own health check. */
const getImageCheck = (): string[] => ['CMD', ...readInstruction('  CMD')];

/** Throws where `perch` does not take these words. */
function expectCommand(words: readonly string[]): void {
  let at: Command = createProgram();
  for (const [index, word] of words.entries()) {
    if (word.startsWith('--')) {
      const option = at.options.find(({ long }) => long === word);
      expect(option, `${at.name()} ${word}`).toBeDefined();
      const value = words[index + 1];
      if (option?.argChoices && value !== undefined) expect(option.argChoices).toContain(value);
    } else if (index === 0 || !words[index - 1]?.startsWith('--')) {
      const next = at.commands.find((command) => command.name() === word);
      expect(next, words.join(' ')).toBeDefined();
      at = next ?? at;
    }
  }
}

/** Runs a health check of a bridge against a local one. */
async function runHealthCheck(words: readonly string[], port: number): Promise<void> {
  const [kind, program, ...args] = words[0] === 'CMD' ? words : ['CMD', ...words];
  expect([kind, program]).toEqual(['CMD', 'node']);
  await using gateway = await startTestBridge();
  const here = args.map((arg) => arg.replace(`http://127.0.0.1:${port}/`, `${gateway.url}/`));
  expect(here).not.toEqual(args);
  const run = (): Promise<number | null> =>
    new Promise((resolve) => {
      const child = spawn(process.execPath, here, { stdio: 'ignore' });
      child.once('exit', resolve);
    });
  expect(await run()).toBe(1);
  await gateway.attach();
  expect(await run()).toBe(0);
}

verifies('operations/compose', 'bridges: commands, ports, folders and health checks are those of the program', async () => {
  const bridges = getServices('bridge-');
  expect(bridges).toHaveLength(2);
  const { dataDir, image } = { dataDir: /PERCH_HOME=(\S+)/.exec(readDeployFile('Dockerfile'))?.[1], image: readDeployFile('Dockerfile') };
  expect(readInstruction('ENTRYPOINT')).toEqual(['perch']);
  expect(image).toMatch(/^USER perch$/m);
  expect(image).toContain(`VOLUME ${dataDir}`);
  expect(image).toContain(`EXPOSE ${DEFAULT_PORT}`);
  const ports = new Set<number>();
  for (const [
    name,
    {
      command = readInstruction('CMD'),
      ports: [published = ''],
      volumes,
      healthcheck: own,
      build,
      security_opt: options,
    },
  ] of bridges) {
    expectCommand(command);
    const at = command.indexOf('--port');
    const port = at < 0 ? DEFAULT_PORT : Number(command[at + 1]);
    expect(published).toBe(`127.0.0.1:${port}:${port}`);
    ports.add(port);
    // To be reachable from outside the container it binds a non-loopback address, which requires both options.
    expect(command).toEqual(expect.arrayContaining(['--bind', '0.0.0.0', '--expose']));
    expect(volumes).toEqual([`${name}:${dataDir}`]);
    expect(composeFile.volumes).toHaveProperty(name);
    expect(build).toEqual({ context: '..', dockerfile: 'deploy/Dockerfile' });
    expect(options).toContain('no-new-privileges:true');
    await runHealthCheck(own?.test ?? getImageCheck(), port);
  }
  expect(ports.size).toBe(2);
});

verifies('operations/compose', 'servers: each has its name and place, and the health check asks where the configuration listens', () => {
  const config = readDeployFile('nats.conf');
  const servers = getServices('nats-');
  expect(servers).toHaveLength(3);
  for (const [name, { command, volumes, environment, env_file: variables, healthcheck: check }] of servers) {
    expect(environment).toEqual({ SERVER_NAME: name });
    expect(variables).toBe('nats.env');
    expect(config).toContain(`nats://${name}:6222`);
    const [store, ...mounted] = volumes;
    expect(store).toBe(`${name}:${/store_dir: "(.*)"/.exec(config)?.[1]}`);
    expect(mounted).toContain(`./nats.conf:${command?.[1]}:ro`);
    expect(mounted).toContain('./vault.conf:/etc/nats/vault.conf:ro');
    expect(check?.test.at(-1)).toMatch(new RegExp(`^http://${/http: "(.*)"/.exec(config)?.[1]}/healthz`));
  }
  expect(config).toContain('include ./vault.conf');
});

verifies(
  'operations/service',
  'starts a command that there is, with variables that are read, and leaves Chromium what its sandbox wants',
  () => {
    const unit = readDeployFile('perch.service');
    const values = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? '';
    const [env, perch, ...words] = values('ExecStart').split(' ');
    expect([env, perch]).toEqual(['/usr/bin/env', 'perch']);
    expectCommand(words);
    expect(
      values('Environment')
        .split(' ')
        .map((set) => set.split('=')[0]),
    ).toEqual(['PERCH_HOME', 'HOME']);
    expect(values('User')).toBe('perch');
    expect(values('RestrictNamespaces').split(' ')).toEqual(['user', 'pid', 'net']);
    expect(values('SystemCallFilter').split(' ')).toContain('chroot');
    expect(values('MemoryDenyWriteExecute')).toBe('no');
  },
);

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
if (!hasSystemd) test.skip('operations/service: systemd-analyze is not installed here', () => {});
else
  verifies('operations/service', 'systemd accepts it without a warning', () => {
    const { stderr, stdout } = spawnSync('systemd-analyze', ['verify', join(deploy, 'perch.service')], { encoding: 'utf8' });
    expect(`${stdout}${stderr}`.split('\n').filter((line) => line.includes('perch.service'))).toEqual([]);
  });

if (!hasNats) test.skip('operations/compose: nats-server is not installed here', () => {});
else
  verifies('operations/compose', 'a server takes the configuration, with what is printed for two vaults', () => {
    using folder = temporaryFolder();
    copyFileSync(join(deploy, 'nats.conf'), join(folder.dir, 'nats.conf'));
    const wanted = { user: 'u', ownAccount: true, forCluster: true, storage: '4GB' };
    const vaults = ['0123456789abcdef', 'fedcba9876543210'].map((vault) =>
      createNatsConfiguration({ ...wanted, vault, user: `u${vault}` }),
    );
    writeFileSync(join(folder.dir, 'vault.conf'), vaults.join('\n'));
    const env = { SERVER_NAME: 'nats-1', PERCH_0123456789ABCDEF_PASSWORD: 'pa', PERCH_FEDCBA9876543210_PASSWORD: 'pb' };
    const looked = (given: NodeJS.ProcessEnv) =>
      spawnSync(NATS_PROGRAM, ['-t', '-c', join(folder.dir, 'nats.conf')], { encoding: 'utf8', env: { PATH: process.env.PATH, ...given } });
    expect(looked(env).status).toBe(0);
    // A missing password is not an empty one.
    expect(looked({ SERVER_NAME: 'nats-1' }).status).not.toBe(0);
  });
