import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ExtraSpec } from './extra.ts';

const VERSION = '3.22.1';

/** Platforms with a build of the package, by Node's name, and the package's name for each. */
const BUILDS: Readonly<Record<string, string>> = {
  'linux-x64': 'linux-x64',
  'linux-arm64': 'linux-arm64',
  'linux-arm': 'linux-armv7l',
  'linux-riscv64': 'linux-riscv64',
  'darwin-arm64': 'mac-arm64-metal',
  'darwin-x64': 'mac-x64',
  'win32-x64': 'win-x64',
  'win32-arm64': 'win-arm64',
};
/** Platforms with a separate GPU build; Apple's is part of the main one. */
const VULKAN: ReadonlySet<string> = new Set(['linux-x64', 'win32-x64']);

interface GgufMachine {
  platform: NodeJS.Platform;
  arch: string;
  /** Whether there is a GPU that can be used for computing. */
  gpu: boolean;
}

/** The package that runs GGUF models, without other platforms' builds or build tools. */
export function createGgufExtra({ platform, arch, gpu }: GgufMachine = getThisMachine()): ExtraSpec {
  const machine = `${platform}-${arch}`;
  const build = BUILDS[machine];
  const builds = build === undefined ? [] : gpu && VULKAN.has(machine) ? [build, `${build}-vulkan`] : [build];
  return {
    name: 'gguf',
    package: 'node-llama-cpp',
    version: VERSION,
    platformPackages: builds.map((each) => `@node-llama-cpp/${each}@${VERSION}`),
    entry: 'node-llama-cpp/dist/index.js',
    size: builds.length > 1 ? 'about 150 MB' : 'about 85 MB',
    proof: (entry) =>
      `const { getLlama } = await import(${JSON.stringify(entry)}); await getLlama({ gpu: 'auto', build: 'never', skipDownload: true, logLevel: 'error' }); process.exit(0);`,
  };
}

function getThisMachine(): GgufMachine {
  const { platform, arch } = process;
  return { platform, arch, gpu: hasGpu(platform) };
}

function hasGpu(platform: NodeJS.Platform): boolean {
  if (platform === 'win32') return existsSync(join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'vulkan-1.dll'));
  if (platform !== 'linux') return false;
  try {
    return existsSync('/dev/nvidiactl') || readdirSync('/dev/dri').some((name) => name.startsWith('renderD'));
  } catch {
    return false;
  }
}
