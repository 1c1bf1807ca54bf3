import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect } from 'vitest';
import { MAX_LINES_PER_SECOND, LINES_WINDOW_BYTES, MAX_LINE_BYTES, mcpPort } from '#shared/ports/mcp-port.ts';
import { verifies } from '../../../tests/requirements.ts';
import { waitFor } from '../../../tests/support/test-gateway.ts';
import { toTestServerCommand, createMcpBridge } from '../../../tests/support/mcp-fixtures.ts';
import { findProcesses } from '../exec/tests/exec-bridge.ts';
import { computeCommandHash } from './approved-commands.ts';
import { LineReader } from './line-reader.ts';

verifies('mcp/tree', 'the bridge is killed: nothing is left', async () => {
  await using lent = await createMcpBridge();
  const mark = `killed-${process.pid}`;
  const { command, args } = toTestServerCommand('forks', mark);
  const bridge = spawn(process.execPath, [join(import.meta.dirname, 'tests/parent.ts'), lent.home, command, ...args], { stdio: 'ignore' });
  // The minimal bridge has the mark among its arguments too.
  await waitFor(() => findProcesses(mark).length === 5, 'the forks');
  bridge.kill('SIGKILL');
  await waitFor(() => findProcesses(mark).length === 0, 'the end of all', 4000);
});

verifies('mcp/approved-command', 'the bridge starts nothing that is not approved, nor after the file of approvals is damaged', async () => {
  await using lent = await createMcpBridge();
  const server = { ...toTestServerCommand('dies'), env: {} };
  const run = () => lent.bridge.call(mcpPort, 'mcp.run', { ...server, run: crypto.randomUUID() });
  await expect(run()).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  const { hash } = await lent.bridge.call(mcpPort, 'mcp.check', server);
  await lent.bridge.call(mcpPort, 'mcp.approve', { hash });
  expect(await run()).toEqual({ exitCode: 3, signal: null, fault: null, stderr: 'begun dies\nI cannot go on\n' });
  await writeFile(join(lent.home, 'mcp-approved.json'), '{"version": 1, "approved": [');
  await expect(run()).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  const none = lent.bridge.call(mcpPort, 'mcp.check', { command: 'no such program', args: [], env: {} });
  await expect(none).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
});

verifies('mcp/approved-command', 'a changed script waits for approval again, also after an approval of an older build', async () => {
  await using lent = await createMcpBridge();
  const copy = join(lent.home, 'server.mjs');
  await writeFile(copy, 'process.exit(3)');
  const server = { command: process.execPath, args: [copy], env: {} };
  const check = () => lent.bridge.call(mcpPort, 'mcp.check', server);
  const run = () => lent.bridge.call(mcpPort, 'mcp.run', { ...server, run: crypto.randomUUID() });
  const old = { version: 1, approved: [{ hash: computeCommandHash(server), at: 1 }] };
  await writeFile(join(lent.home, 'mcp-approved.json'), JSON.stringify(old));
  expect(await check()).toMatchObject({ approved: true, isApprovalBound: true });
  // The user is told about it even if the app checks first.
  expect(await check()).toMatchObject({ approved: true, isApprovalBound: true });
  expect(await run()).toMatchObject({ exitCode: 3 });
  await writeFile(copy, 'process.exit(7)');
  expect(await check()).toMatchObject({ approved: false });
  await expect(run()).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  await lent.bridge.call(mcpPort, 'mcp.approve', { hash: (await check()).hash });
  expect(await check()).toEqual({ hash: expect.any(String) as string, approved: true, workingDir: expect.any(String) as string });
  expect(await run()).toMatchObject({ exitCode: 7 });
});

verifies('mcp/lines', 'no more is read than is taken, and than may come in a second; a line too long is refused', async () => {
  const reading = () => {
    const source = new PassThrough();
    const received = { lines: [] as string[], bytes: 0, refused: '' };
    const lines = new LineReader(source, {
      send(more, bytes) {
        received.lines.push(...more);
        received.bytes += bytes;
      },
      refuse: (reason) => (received.refused = reason),
    });
    return { source, told: received, lines };
  };
  const pieces = reading();
  for (const byte of Buffer.from('one\r\n\nzwölf\nthr')) pieces.source.write(Buffer.from([byte]));
  await waitFor(() => pieces.told.lines.length === 2);
  expect(pieces.told.lines).toEqual(['one', 'zwölf']);

  const wide = reading();
  const line = `${'x'.repeat(64 * 1024 - 1)}\n`;
  for (let i = 0; i < 64; i++) wide.source.write(line);
  await waitFor(() => wide.source.isPaused());
  expect(wide.told.bytes).toBeLessThanOrEqual(LINES_WINDOW_BYTES + line.length);
  const before = wide.told.lines.length;
  wide.lines.acknowledge(wide.told.bytes);
  await waitFor(() => wide.told.lines.length > before);

  const many = reading();
  many.source.write('{}\n'.repeat(MAX_LINES_PER_SECOND + 1));
  await waitFor(() => many.told.lines.length > MAX_LINES_PER_SECOND);
  expect(many.source.isPaused()).toBe(true);
  many.source.write('{}\n');
  await waitFor(() => many.told.lines.length === MAX_LINES_PER_SECOND + 2, 'the next second');

  const long = reading();
  for (let i = 0; i <= MAX_LINE_BYTES / line.length; i++) long.source.write('y'.repeat(line.length));
  await waitFor(() => long.told.refused !== '');
  expect([long.told.lines, long.told.refused]).toEqual([[], 'it sent a line longer than 4 MiB']);
});
