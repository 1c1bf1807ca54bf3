import { z } from '#shared/rpc/zod.ts';
import { lazy } from '#shared/async/lazy.ts';

/** Maximum length of front matter, in characters. */
const MAX_CHARS = 16 * 1024;
/** Unquoted sentences with a colon, which are not valid YAML. */
const BARE_TEXT = /^(description|compatibility):[ \t]+([^\s"'|>[{&*!%@`#][^\r\n]*?)[ \t]*$/gm;
/** Maximum number of programs, and of variables, that a skill may require. */
const MAX_REQUIREMENTS = 50;

const yaml = lazy(() => import('yaml'));

const names = z
  .union([
    z.array(z.string().min(1).max(100)).max(MAX_REQUIREMENTS),
    z
      .string()
      .max(1000)
      .transform((text) => text.split(/[\s,]+/).filter(Boolean)),
  ])
  .optional();
/** Names of operating systems as `process.platform` spells them, by common names. */
const SYSTEMS: ReadonlyMap<string, string> = new Map([
  ['macos', 'darwin'],
  ['mac', 'darwin'],
  ['windows', 'win32'],
]);

const requires = z.looseObject({ bins: names, anyBins: names, env: names });

/** Schema of the front matter in the Agent Skills format; other keys are ignored. */
const frontMatter = z.looseObject({
  name: z
    .string()
    .max(64, 'must have at most 64 characters')
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must contain only lowercase letters, digits and single hyphens'),
  description: z.string().trim().min(1, 'must not be empty').max(1024, 'must have at most 1,024 characters'),
  license: z.string().max(500).optional(),
  compatibility: z.string().max(500, 'must have at most 500 characters').optional(),
  'user-invocable': z.boolean().optional().catch(undefined),
  metadata: z
    .looseObject({
      requires: requires.optional(),
      os: names,
      openclaw: z.looseObject({ requires: requires.optional(), os: names }).optional(),
    })
    .nullish(),
});

/** Front matter of a `SKILL.md`. */
export interface SkillMetadata {
  name: string;
  description: string;
  license: string | undefined;
  compatibility: string | undefined;
  /** False if only models may choose the skill. */
  userInvocable: boolean;
  /** Required programs and variables; of each list in `anyOf` one is enough. */
  programs: string[];
  anyOf: string[][];
  variables: string[];
  /** Supported operating systems, in Node's spelling (`process.platform`); empty if all are supported. */
  systems: string[];
}

/** Reads the front matter of a `SKILL.md` in a folder of that name. Never throws: errors are returned as `problem`. */
export async function parseSkill(folder: string, text: string): Promise<SkillMetadata | { problem: string }> {
  const match = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(\r?\n|$)/.exec(text.slice(0, MAX_CHARS));
  const source = match?.[1];
  if (source === undefined) return { problem: 'SKILL.md must start with front matter between lines of ---' };
  let given: unknown;
  try {
    const { parseDocument } = await yaml();
    const parse = (text: string): ReturnType<typeof parseDocument> =>
      parseDocument(text, { schema: 'core', prettyErrors: true, logLevel: 'silent' });
    let document = parse(source);
    const [error] = document.errors;
    if (error) document = parse(source.replace(BARE_TEXT, (_, key: string, text: string) => `${key}: ${JSON.stringify(text)}`));
    if (error && document.errors.length > 0) return { problem: `The front matter is not valid YAML: ${firstLine(error.message)}` };
    // Disallows aliases, which could expand to far more than the document's size.
    given = document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    return { problem: `Couldn’t read the front matter: ${error instanceof Error ? firstLine(error.message) : 'it is nested too deeply'}` };
  }
  const parsed = frontMatter.safeParse(given);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { problem: `Invalid front matter: ${issue ? `${issue.path.join('.') || 'it'} ${issue.message}` : 'it is empty'}` };
  }
  const { name, description, license, compatibility, metadata } = parsed.data;
  if (name !== folder) return { problem: `The name is ${name}, but the folder is named ${folder}` };
  const needs = [metadata?.requires, metadata?.openclaw?.requires];
  return {
    name,
    description: description.replace(/\s+/g, ' '),
    license,
    compatibility,
    userInvocable: parsed.data['user-invocable'] ?? true,
    programs: [...new Set(needs.flatMap((need) => need?.bins ?? []))],
    anyOf: needs.flatMap((need) => (need?.anyBins?.length ? [need.anyBins] : [])),
    variables: [...new Set(needs.flatMap((need) => need?.env ?? []))],
    systems: [...new Set((metadata?.openclaw?.os ?? metadata?.os ?? []).map(toSystem))],
  };
}

function toSystem(name: string): string {
  const system = name.toLowerCase();
  return SYSTEMS.get(system) ?? system;
}

const firstLine = (text: string): string => (text.split('\n', 1)[0] ?? '').replace(/:$/, '').slice(0, 300);
