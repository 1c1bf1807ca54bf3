import { findNearestName } from '#shared/nearest-name.ts';
import { DEFAULT_COMMAND_MS } from '#shared/ports/exec-port.ts';
import { REDACTED } from '#shared/redact.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { z } from '#shared/rpc/zod.ts';
import { DEFAULT_UPSTREAM_LIMITS } from '#shared/upstream-limits.ts';
import { MAIN_AGENT_ID } from './main-agent.ts';
import { toCanonicalJson } from '#shared/canonical-json.ts';
import { HUGGINGFACE_URL } from './sections/hub-address.ts';
import { isObject, type Json, mergePatch } from '#shared/merge-patch.ts';
import { RATE_LIMIT } from '../system/rate-limit.ts';
import { DEFAULT_INSTRUCTIONS } from './default-instructions.ts';
import { type Settings, settingsSchema } from './settings-schema.ts';
import { redactSecretLike } from './redact-settings.ts';

/** Defaults that are not in the schema, since code provides them. */
const DEFAULTS: Json = {
  chat: { systemPrompt: DEFAULT_INSTRUCTIONS, fallbacks: [] },
  models: { hub: HUGGINGFACE_URL },
  heartbeat: { agentId: MAIN_AGENT_ID },
  gateway: { rateLimit: RATE_LIMIT, discover: true, upstream: { ...DEFAULT_UPSTREAM_LIMITS }, logLevel: 'info' },
  tools: { policies: {}, afterReading: {}, execTimeoutMs: DEFAULT_COMMAND_MS, webFetch: { allow: [] }, mcpServers: {} },
};

/** Longer names are not typos, and would take long to compare. */
const MAX_COMPARED = 100;

type Member = z.core.$ZodType | 'any' | 'unknown';

/** A setting or its default, which is null if it has none. Throws `NOT_FOUND` if there is no such setting, or no entry with that name. */
export function readSetting(path: readonly string[], document: Json, parsed: Settings): { value: unknown; isDefault?: true } {
  const stored = getValue(document, path);
  if (stored !== undefined) return { value: stored };
  const unknown = findUnknown(path);
  if (unknown !== undefined) throw new RpcError('NOT_FOUND', toUnknownMessage(unknown));
  if (!hasEntries(path, document)) throw new RpcError('NOT_FOUND', `No setting with key "${path.join('.')}".`);
  const value = getValue(mergePatch(DEFAULTS, parsed), path);
  return { value: value ?? null, isDefault: true };
}

/**
 * The change to write. Throws `INVALID_PARAMS` for a setting that this build does not know, unless it is deleted or unchanged; values that
 * were redacted when read stay unchanged too.
 */
export function checkChange(change: Json, document: Json): Json {
  return checkObject(change, document, settingsSchema, []);
}

function checkObject(change: Json, before: unknown, schema: Member, path: readonly string[]): Json {
  return Object.fromEntries(
    Object.entries(change).map(([name, value]) => {
      const existing = isObject(before) && Object.hasOwn(before, name) ? before[name] : undefined;
      const memberPath = [...path, name];
      const member = getMember(schema, name);
      if (member === 'unknown') {
        const isUnchanged = existing !== undefined && isSame(value, existing, name, memberPath);
        if (value !== null && !isUnchanged) throw createUnknownError(memberPath);
        return [name, isUnchanged ? existing : value];
      }
      if (member === 'any')
        return [name, value === REDACTED && existing !== undefined && isHidden(existing, memberPath) ? existing : value];
      return [name, isObject(value) ? checkObject(value, existing, member, memberPath) : value];
    }),
  );
}

const isSame = (value: unknown, existing: unknown, name: string, path: readonly string[]): boolean =>
  [existing, redactSecretLike(name, existing, path.slice(0, -1))].some((each) => toCanonicalJson(each) === toCanonicalJson(value));

const isHidden = (existing: unknown, path: readonly string[]): boolean =>
  redactSecretLike(path.at(-1) ?? '', existing, path.slice(0, -1)) === REDACTED;

/** The configuration with likely secrets redacted in settings that this build does not know. */
export const hideUnknownSecrets = (document: Json): Json => hideSecrets(document, settingsSchema, []);

function hideSecrets(document: Json, schema: Member, path: readonly string[]): Json {
  return Object.fromEntries(
    Object.entries(document).map(([name, value]) => {
      const member = getMember(schema, name);
      if (typeof member === 'string') return [name, redactSecretLike(name, value, path)];
      return [name, isObject(value) ? hideSecrets(value, member, [...path, name]) : value];
    }),
  );
}

/** The shortest prefix of a path that is not a setting; undefined if the path is known. */
function findUnknown(path: readonly string[]): readonly string[] | undefined {
  let schema: Member = settingsSchema;
  for (const [index, name] of path.entries()) {
    if (schema === 'any') return undefined;
    schema = getMember(schema, name);
    if (schema === 'unknown') return path.slice(0, index + 1);
  }
  return undefined;
}

/** Whether all entries of records on a path exist. */
function hasEntries(path: readonly string[], document: Json): boolean {
  let schema: Member = settingsSchema;
  return path.every((name, index) => {
    if (schema === 'any') return getValue(document, path) !== undefined;
    const isEntry = typeof schema !== 'string' && !(unwrap(schema) instanceof z.ZodObject && name in getShape(schema));
    schema = getMember(schema, name);
    return !isEntry || getValue(document, path.slice(0, index + 1)) !== undefined;
  });
}

const createUnknownError = (path: readonly string[]): RpcError =>
  new RpcError('INVALID_PARAMS', toUnknownMessage(path), {
    details: { issues: [{ key: path.join('.'), message: 'is not a known setting' }] },
  });

function toUnknownMessage(path: readonly string[]): string {
  const key = path.join('.').slice(0, MAX_COMPARED);
  const nearest = findNearestName(key, listCandidates(path));
  return `Unknown setting "${key}".${nearest === undefined ? '' : ` The nearest is "${nearest}".`}`;
}

/** Candidates for a mistyped setting: those of the same object, and all others that are not below an entry of a record. */
function listCandidates(path: readonly string[]): string[] {
  const parent = path.slice(0, -1);
  const schema = parent.reduce<Member>((member, name) => (member === 'any' ? member : getMember(member, name)), settingsSchema);
  const siblings = typeof schema === 'string' ? [] : Object.keys(getShape(schema)).map((name) => [...parent, name].join('.'));
  return [...new Set([...siblings, ...listPaths(settingsSchema, [])])];
}

const listPaths = (schema: z.core.$ZodType, path: readonly string[]): string[] =>
  Object.entries(getShape(schema)).flatMap(([name, member]) => [[...path, name].join('.'), ...listPaths(member, [...path, name])]);

function getMember(schema: Member, name: string): Member {
  if (typeof schema === 'string') return schema;
  const unwrapped = unwrap(schema);
  if (unwrapped instanceof z.ZodRecord) return unwrapped.valueType;
  if (unwrapped instanceof z.ZodUnion) {
    const members = unwrapped.options.map((option) => getMember(option as z.core.$ZodType, name));
    return members.find((member) => member !== 'unknown') ?? 'unknown';
  }
  if (!(unwrapped instanceof z.ZodObject)) return 'any';
  const shape = unwrapped.shape as Record<string, z.core.$ZodType>;
  if (Object.hasOwn(shape, name)) return shape[name] ?? 'unknown';
  // A loose object keeps settings of other builds, but accepts no new ones.
  const { catchall } = unwrapped.def;
  if (catchall === undefined || catchall instanceof z.ZodUnknown || catchall instanceof z.ZodNever) return 'unknown';
  return catchall instanceof z.ZodAny ? 'any' : catchall;
}

function getShape(schema: z.core.$ZodType): Record<string, z.core.$ZodType> {
  const unwrapped = unwrap(schema);
  if (unwrapped instanceof z.ZodUnion) return Object.assign({}, ...unwrapped.options.map((option) => getShape(option as z.core.$ZodType)));
  return unwrapped instanceof z.ZodObject ? (unwrapped.shape as Record<string, z.core.$ZodType>) : {};
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodPipe) return unwrap(schema.in instanceof z.ZodTransform ? schema.out : schema.in);
  const wrappers = [z.ZodOptional, z.ZodNullable, z.ZodDefault, z.ZodPrefault, z.ZodCatch, z.ZodReadonly];
  for (const wrap of wrappers) if (schema instanceof wrap) return unwrap(schema.def.innerType);
  return schema;
}

const getValue = (document: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined), document);
