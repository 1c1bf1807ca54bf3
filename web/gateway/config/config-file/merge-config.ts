import { toCanonicalJson } from '#shared/canonical-json.ts';
import { isObject, type Json } from '#shared/merge-patch.ts';

const isSame = (a: unknown, b: unknown): boolean => toCanonicalJson(a) === toCanonicalJson(b);

/** Result of a three-way merge. */
interface MergeResult {
  document: Json;
  /** Whether a change in `ours` was overridden by `theirs`. */
  lost: boolean;
}

/**
 * Three-way merge: changes of one side since `base` are taken, setting by setting; if both changed a setting, `theirs` wins. A setting
 * deleted by one side is deleted, unless the other side changed it.
 */
export function mergeThreeWay(base: Json, ours: Json, theirs: Json): MergeResult {
  const document: Json = {};
  let lost = false;
  for (const name of new Set([...Object.keys(theirs), ...Object.keys(ours)])) {
    const [before, our, their] = [base, ours, theirs].map((section) => (Object.hasOwn(section, name) ? section[name] : undefined));
    const inner = isObject(our) && isObject(their) ? mergeThreeWay(isObject(before) ? before : {}, our, their) : undefined;
    if (inner?.lost) lost = true;
    let value: unknown;
    if (inner) value = inner.document;
    else if (isSame(our, before)) value = their;
    else if (isSame(their, before) || isSame(our, their)) value = our;
    else {
      value = their ?? our;
      lost ||= their !== undefined && our !== undefined;
    }
    if (value !== undefined) document[name] = value;
  }
  return { document, lost };
}
