import { expect, it } from 'vitest';
import { portLink } from '#shared/link/link.ts';
import { serveCalls } from '#shared/link/port-calls.ts';
import { audioPort } from '#shared/ports/audio-port.ts';
import type { PageWorkerProvider } from '#shared/ports/host-api.ts';
import { convertInPage } from './convert-in-page.ts';

/** A page whose worker converts audio by `convert`. */
const createPage = (convert: () => Promise<string>): PageWorkerProvider & { stopped: number } => ({
  stopped: 0,
  start() {
    const { port1, port2 } = new MessageChannel();
    serveCalls<typeof audioPort.calls, typeof audioPort.events>(
      portLink<string>(port2),
      audioPort.calls,
      { 'audio.convert': async () => ({ audio: await convert() }) },
      { fault: (error) => expect.unreachable(String(error)) },
    );
    return Promise.resolve(port1);
  },
  stop() {
    this.stopped++;
    return Promise.resolve();
  },
});

it('asks the next page if one never answers, and ends the workers of both', async () => {
  const [frozen, awake] = [createPage(() => new Promise<never>(() => {})), createPage(() => Promise.resolve('b2dn'))];
  const { signal } = new AbortController();
  expect(await convertInPage([frozen, awake], { audio: 'UklG', format: 'opus' }, signal, 20)).toBe('b2dn');
  expect([frozen.stopped, awake.stopped]).toEqual([1, 1]);
  await expect(convertInPage([frozen], { audio: 'UklG', format: 'opus' }, signal, 20)).rejects.toThrow('needs an open tab');
});
