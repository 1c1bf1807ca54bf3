import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** A program that replaces eSpeak and outputs a tone of one second for any text. */
interface FakeSpeechEngine extends Disposable {
  /** The environment's `PATH` with it first. */
  readonly path: string;
  /** Arguments of each call, with the text to speak last. */
  calls(): string[][];
}

export function createFakeSpeechEngine(): FakeSpeechEngine {
  const dir = mkdtempSync(join(tmpdir(), 'perch-espeak-'));
  const [log, wav, program] = [join(dir, 'calls'), join(dir, 'tone.wav'), join(dir, 'espeak-ng')];
  writeFileSync(wav, createTone());
  writeFileSync(log, '');
  const listing = 'Pty Language Age/Gender VoiceName File\n 5  en-us  --/M  English_(America)  gmw/en-US\n 5  de  --/F  German  gmw/de\n';
  writeFileSync(
    program,
    `#!${process.execPath}\nconst fs = require('node:fs');\nconst input = fs.readFileSync(0, 'utf8');\nfs.appendFileSync(${JSON.stringify(log)}, JSON.stringify([...process.argv.slice(2), input]) + '\\n');\nprocess.stdout.write(process.argv[2] === '--voices' ? ${JSON.stringify(listing)} : fs.readFileSync(${JSON.stringify(wav)}));\n`,
  );
  chmodSync(program, 0o755);
  return {
    path: `${dir}${delimiter}${process.env.PATH ?? ''}`,
    calls: () =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as string[]),
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }),
  };
}

/** A tone of one second, as a WAV file of 22,050 Hz whose header claims more data than the file has. */
export function createTone(): Buffer {
  const data = Buffer.alloc(22_050 * 2);
  for (let index = 0; index < 22_050; index++) data.writeInt16LE(Math.round(12_000 * Math.sin(index / 8)), index * 2);
  const head = Buffer.alloc(44);
  head.write('RIFF\xff\xff\xff\x7fWAVEfmt ', 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(22_050, 24);
  head.writeUInt32LE(44_100, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data\xff\xff\xff\x7f', 36, 'latin1');
  return Buffer.concat([head, data]);
}
