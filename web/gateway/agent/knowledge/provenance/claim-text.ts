import { toCanonicalJson } from '#shared/canonical-json.ts';
import type { Claim } from '../../../knowledge/wiki/claim.ts';

/** The part of a claim that its provenance covers: all but its status, which follows from other claims, and its page. */
export const toClaimText = ({ text, evidence, confidence, tags }: Claim): string =>
  toCanonicalJson({ text, evidence: evidence.map((each) => ({ ...each })), confidence, tags });
