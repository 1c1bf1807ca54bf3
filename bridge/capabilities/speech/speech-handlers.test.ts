import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, describe, expect, it, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { speechPort } from '#shared/ports/speech-port.ts';
import { parseWav, WavError } from '#shared/wav.ts';
import { verifies } from '../../../tests/requirements.ts';
import { FakeBridge, createCapability } from '../../../tests/support/fake-bridge.ts';
import { createFakeSpeechEngine, createTone } from '../../../tests/support/fake-speech-engine.ts';
import { encodeMp3, SAMPLES_PER_SLICE } from './encode-mp3.ts';
import { NeuralVoices } from './neural-voices.ts';
import { splitText } from './split-text.ts';
import { ProcessKeeper } from '../../processes/process-keeper.ts';
import { createSpeechHandlers } from './speech-handlers.ts';
import { createSystemEngines } from './system-engines.ts';

const cleanUps: (() => void)[] = [];
afterEach(() => cleanUps.splice(0).forEach((cleanUp) => cleanUp()));

type Behaviour = 'speaks' | 'hangs up' | 'refuses';

/** A fake of the online service: text messages with headers, and binary frames with a header. */
async function service(behaviour: Behaviour = 'speaks') {
  const turns: { ssml: string; url: string }[] = [];
  const server = createServer((_request, response) => {
    if (behaviour === 'refuses') return response.writeHead(403).end();
    const voice = { Name: 'x', ShortName: 'en-US-AriaNeural', FriendlyName: 'Aria', Locale: 'en-US', Gender: 'Female' };
    return response.end(JSON.stringify([voice]));
  });
  const sockets = new WebSocketServer({ server, verifyClient: () => behaviour !== 'refuses' });
  sockets.on('connection', (socket, { url = '' }) => {
    socket.on('message', (data) => {
      const text = data.toString();
      const [, id] = /X-RequestId:(\w+)/.exec(text) ?? [];
      if (!text.includes('Path:ssml') || id === undefined) return;
      turns.push({ ssml: text.slice(text.indexOf('\r\n\r\n') + 4), url });
      socket.send(`X-RequestId:${id}\r\nPath:turn.start\r\n\r\n{}`);
      const frame = (path: string, body: Buffer): Buffer => {
        const head = Buffer.from(`X-RequestId:${id}\r\nContent-Type:audio/mpeg\r\nPath:${path}\r\n`);
        const size = Buffer.alloc(2);
        size.writeUInt16BE(head.length);
        return Buffer.concat([size, head, body]);
      };
      socket.send(frame('audio', Buffer.from(`<sound ${turns.length}a>`)));
      if (behaviour === 'hangs up') return socket.close();
      socket.send(frame('audio', Buffer.from(`<sound ${turns.length}b>`)));
      socket.send(`X-RequestId:${id}\r\nPath:audio.metadata\r\n\r\n{}`);
      socket.send(`X-RequestId:${id}\r\nPath:turn.end\r\n\r\n{}`);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUps.push(() => {
    for (const client of sockets.clients) client.terminate();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { turns, neural: new NeuralVoices({ socket: `ws://127.0.0.1:${port}/edge/v1`, voices: `http://127.0.0.1:${port}/voices` }) };
}

const keeper = new ProcessKeeper(() => {});
const over = (deps: Parameters<typeof createSpeechHandlers>[0]) => new FakeBridge(createCapability(speechPort, createSpeechHandlers(deps)));
const decoded = (audio: string): string => Buffer.from(audio, 'base64').toString();

/** A program that replaces eSpeak, first on the PATH. */
function createFakeEspeak(): { calls(): string[][] } {
  const engine = createFakeSpeechEngine();
  const before = process.env.PATH;
  process.env.PATH = engine.path;
  cleanUps.push(() => {
    process.env.PATH = before;
    engine[Symbol.dispose]();
  });
  return engine;
}

verifies('tts/speak', 'the network’s voice speaks with rate and pitch, and the text cannot become markup', async () => {
  const { neural, turns } = await service();
  const answer = await over({ neural, engines: createSystemEngines(keeper) }).call(speechPort, 'speech.speak', {
    text: 'Tom & <break/> "Jerry"',
    voice: 'de-DE-KatjaNeural',
    rate: '+10%',
    pitch: '-5Hz',
  });
  expect(answer).toMatchObject({ mimeType: 'audio/mpeg', voice: 'de-DE-KatjaNeural' });
  expect(decoded(answer.audio)).toBe('<sound 1a><sound 1b>');
  expect(answer.sizeBytes).toBe(decoded(answer.audio).length);
  expect(turns[0]?.ssml).toContain('<voice name="de-DE-KatjaNeural"><prosody pitch="-5Hz" rate="+10%"');
  expect(turns[0]?.ssml).toContain('Tom &amp; &lt;break/&gt; &quot;Jerry&quot;');
  expect(turns[0]?.url).toMatch(/Sec-MS-GEC=[0-9A-F]{64}/);
});

verifies('tts/speak', 'the default voice, and a long text in several turns', async () => {
  const { neural, turns } = await service();
  const text = 'A sentence about nothing at all. '.repeat(300).trim();
  const answer = await over({ neural, engines: createSystemEngines(keeper) }).call(speechPort, 'speech.speak', { text });
  expect(answer.voice).toBe('en-US-AriaNeural');
  expect(turns.length).toBe(3);
  expect(decoded(answer.audio)).toBe('<sound 1a><sound 1b><sound 2a><sound 2b><sound 3a><sound 3b>');
});

verifies('tts/fallback', 'falls back to the system voice if the network refuses or disconnects, and reports it', async () => {
  for (const behaviour of ['refuses', 'hangs up'] as const) {
    const { neural } = await service(behaviour);
    const { calls } = createFakeEspeak();
    const text = '-v whatever; $(rm)';
    const answer = await over({ neural, engines: createSystemEngines(keeper, 'linux') }).call(speechPort, 'speech.speak', {
      text,
      voice: 'de-DE-KatjaNeural',
      rate: '+100%',
      pitch: '+20Hz',
    });
    expect(answer.voice).toBe('system:espeak-ng:de');
    expect(calls().at(-1)).toEqual(['--stdout', '--stdin', '-v', 'de', '-s', '350', '-p', '60', text]);
    const mp3 = Buffer.from(answer.audio, 'base64');
    expect(mp3.readUInt16BE(0) >> 5, 'the head of an MP3 frame').toBe(0x7ff);
    // 64 kbit/s for one second.
    expect(mp3.length).toBeGreaterThan(6_000);
    expect(mp3.length).toBeLessThan(11_000);
  }
});

verifies('http.media/own-voices', 'WAV is only made by the system’s engine, and names what is missing without one', async () => {
  const { neural, turns } = await service();
  createFakeEspeak();
  const params = { text: 'Hello', voice: 'de-DE-KatjaNeural', format: 'wav' } as const;
  const answer = await over({ neural, engines: createSystemEngines(keeper, 'linux') }).call(speechPort, 'speech.speak', params);
  expect(answer).toMatchObject({ mimeType: 'audio/wav', voice: 'system:espeak-ng:de' });
  expect(parseWav(Buffer.from(answer.audio, 'base64'))).toMatchObject({ sampleRate: 22_050, channels: 1, data: { length: 44_100 } });
  expect(turns).toHaveLength(0);
  await expect(over({ neural, engines: [] }).call(speechPort, 'speech.speak', params)).rejects.toMatchObject({
    message: expect.stringContaining('WAV needs a speech engine'),
  });
});

verifies('tts/fallback', 'without any engine it says how to install one', async () => {
  const { neural } = await service('refuses');
  await expect(over({ neural, engines: [] }).call(speechPort, 'speech.speak', { text: 'Hello' })).rejects.toMatchObject({
    code: 'INTERNAL_ERROR',
    message: expect.stringContaining('install a speech engine'),
  });
});

verifies('tts/fallback', 'why the network’s voices do not is told in words', async () => {
  const spoken = (neural: NeuralVoices) => over({ neural, engines: [] }).call(speechPort, 'speech.speak', { text: 'Hello' });
  for (const host of ['nowhere.invalid', 'localhost:1']) {
    const unreachable = new NeuralVoices({ socket: `ws://${host}/edge/v1`, voices: `http://${host}/voices` });
    await expect(spoken(unreachable), host).rejects.toMatchObject({
      message: expect.stringMatching(/^No voice is available: online voices can’t be reached\. Connect to the internet, /),
    });
  }
  for (const [behaviour, reason] of [
    ['refuses', 'HTTP 401'],
    ['hangs up', 'the connection was closed early'],
  ] as const) {
    const { neural } = await service(behaviour);
    await expect(spoken(neural)).rejects.toMatchObject({ message: expect.stringContaining(`are unavailable: ${reason}. Connect `) });
  }
});

verifies('tts/voices', 'of the network and of the system', async () => {
  const { neural } = await service();
  createFakeEspeak();
  const { voices } = await over({ neural, engines: createSystemEngines(keeper, 'linux') }).call(speechPort, 'speech.voices', {});
  expect(voices).toEqual([
    { id: 'en-US-AriaNeural', name: 'Aria', language: 'en-US', gender: 'Female' },
    { id: 'system:espeak-ng:en-us', name: 'English (America)', language: 'en-us', gender: 'Male' },
    { id: 'system:espeak-ng:de', name: 'German', language: 'de', gender: 'Female' },
  ]);
});

verifies('tts/every-voice', 'a voice listed by tts.voices is used; an unlisted one is refused', async () => {
  const { neural, turns } = await service();
  const { calls } = createFakeEspeak();
  const bridge = over({ neural, engines: createSystemEngines(keeper, 'linux') });
  const speak = (voice: string) => bridge.call(speechPort, 'speech.speak', { text: 'Hello', voice });
  const { voices } = await bridge.call(speechPort, 'speech.voices', {});
  expect(voices).toHaveLength(3);
  for (const { id } of voices) expect((await speak(id)).voice).toBe(id);
  expect(turns).toHaveLength(1);
  expect(calls().at(-1)).toEqual(['--stdout', '--stdin', '-v', 'de', '-s', '175', '-p', '50', 'Hello']);
  for (const id of ['system:espeak-ng:tlh', 'system:say:de', 'system:espeak-ng:-f'])
    await expect(speak(id), id).rejects.toMatchObject({ code: 'INVALID_PARAMS', message: expect.stringContaining('tts.voices lists') });
});

const hasEspeak = ((): boolean => {
  try {
    execFileSync('espeak-ng', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

if (!hasEspeak) test.skip('speech/synthesize: espeak-ng is not installed here', () => {});
test.runIf(hasEspeak)('the real eSpeak speaks, and each of its voices is listed once', async () => {
  const { neural } = await service('refuses');
  const { voices } = await over({ neural, engines: createSystemEngines(keeper) }).call(speechPort, 'speech.voices', {});
  expect(new Set(voices.map(({ id }) => id)).size).toBe(voices.length);
  const answer = await over({ neural, engines: createSystemEngines(keeper) }).call(speechPort, 'speech.speak', {
    text: 'Hello, world.',
    voice: 'en-GB-SoniaNeural',
  });
  expect(answer.voice).toBe('system:espeak-ng:en-gb');
  expect(answer.sizeBytes).toBeGreaterThan(3_000);
});

describe('a WAV file', () => {
  it.each([
    ['nothing', Buffer.alloc(0)],
    ['something else', Buffer.from('not a wav file at all, but long enough to be looked at')],
    ['no sound', createTone().subarray(0, 44)],
    ['a cut head', createTone().subarray(0, 30)],
  ])('that is %s is refused', async (_what, wav) => {
    await expect(encodeMp3(wav)).rejects.toThrow(WavError);
  });

  it('of a long text lets other work have its turns, and ends with its caller', async () => {
    const [slices, head] = [20, createTone().subarray(0, 44)];
    const long = Buffer.concat([head, Buffer.alloc(slices * SAMPLES_PER_SLICE * 2)]);
    let [turns, done] = [0, false];
    const count = (): void => void (done || (turns++, setImmediate(count)));
    count();
    await encodeMp3(long).finally(() => (done = true));
    expect(turns).toBeGreaterThanOrEqual(slices);
    const caller = new AbortController();
    const encoding = encodeMp3(long, caller.signal);
    caller.abort(new Error('enough'));
    await expect(encoding).rejects.toThrow('enough');
  });
});

describe('pieces', () => {
  it('are whole sentences, else words, else characters, and nothing is lost', () => {
    expect(splitText('One two. Three four. Five.', 22)).toEqual(['One two. Three four.', 'Five.']);
    expect(splitText('aaaa bbbb cccc', 9)).toEqual(['aaaa bbbb', 'cccc']);
    expect(splitText('ü'.repeat(10), 8)).toEqual(['üüüü', 'üüüü', 'üü']);
    const zalgo = `a${'\u0301'.repeat(30)}`;
    expect(splitText(zalgo, 8).join('')).toBe(zalgo);
    expect(splitText('  ', 8)).toEqual([]);
  });
});

verifies('exec/tree', 'a speech engine that is at work when the bridge is killed ends with it', async () => {
  if (process.platform === 'win32') return;
  const dir = mkdtempSync(join(tmpdir(), 'perch-speech-'));
  cleanUps.push(() => rmSync(dir, { recursive: true, maxRetries: 20, retryDelay: 50 }));
  const file = join(dir, 'pid');
  writeFileSync(join(dir, 'espeak-ng'), `#!/bin/sh\necho $$ > '${file}.new'\nmv '${file}.new' '${file}'\nexec sleep 600\n`, {
    mode: 0o755,
  });
  const env = { ...process.env, PATH: `${dir}${delimiter}${process.env['PATH']}` };
  const bridge = spawn(process.execPath, [join(import.meta.dirname, 'tests/speaker.ts')], { stdio: 'ignore', env });
  await expect.poll(() => existsSync(file)).toBe(true);
  const pid = Number(readFileSync(file, 'utf8'));
  bridge.kill('SIGKILL');
  await expect.poll(() => isThere(pid)).toBe(false);
});

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
