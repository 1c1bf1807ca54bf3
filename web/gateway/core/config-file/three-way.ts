import { canonical } from '../canonical.ts';
import { isObject, type Json } from '../merge.ts';

const isSame = (a: unknown, b: unknown): boolean => canonical(a) === canonical(b);

/** What two versions of a document that were made apart come to. */
export interface Merged {
  document: Json;
  /** `ours` said something that `theirs` won over. */
  lost: boolean;
}

/**
 * Three-way merge: what one side changed since `base` is taken, setting by setting; where both did, `theirs` wins. A setting that one side deleted is gone,
 * unless the other changed it.
 */
export function threeWay(base: Json, ours: Json, theirs: Json): Merged {
  const document: Json = {};
  let lost = false;
  for (const name of new Set([...Object.keys(theirs), ...Object.keys(ours)])) {
    const [before, our, their] = [base, ours, theirs].map((each) => (Object.hasOwn(each, name) ? each[name] : undefined));
    const inner = isObject(our) && isObject(their) ? threeWay(isObject(before) ? before : {}, our, their) : undefined;
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
