import { chosenSection, specifiedSection } from './requirement.ts';

/** Pages and claims. */
export const wiki = [
  specifiedSection('interface document 2, sections 2.5, 3 and 4.6', {
    'wiki.vault/pages':
      'A vault is set up, pages are saved, read and listed by folder, and its statistics count pages, claims, directories and sources; a page that is not there is none.',
    'wiki.claims/life': 'Claims are added, read, updated, superseded by a new one with a rationale, and deleted.',
    'wiki.claims/export': 'Claims are exported as JSON lines in the documents’ spelling, and read in again the same.',
  }),
  chosenSection('decisions, "Memory, recall, wiki, dreaming"', {
    'wiki.contradictions/judged':
      'Claims contradict each other where the same subject has a negated or a differing value, each with the reason; what may both be so does not.',
    'wiki.contradictions/symmetric': 'A contradiction is one whichever claim is asked for, and any text can be asked.',
    'wiki.claims/refute': 'A claim is refuted explicitly, with a reason and what shows it.',
  }),
  chosenSection('issue "Memory, active recall, wiki and dreaming"', {
    'wiki.pages/obsidian':
      'Pages are Markdown with front matter; what Perch does not know of it stays, and front matter that is broken loses no text.',
    'wiki.pages/paths': 'Paths are names only: nothing leads out of the vault or into its hidden folders.',
    'wiki.pages/links':
      'Links in double brackets, with alias and heading, and links of Markdown lead to pages by path, name, title or alias, and back.',
    'wiki.pages/claims-shown':
      'A page shows its claims between two marks; what a person writes outside of them survives, whatever a claim says.',
    'wiki.pages/large': 'A page of 10 MB is saved and read; one that is larger than allowed is refused and nothing is lost.',
    'wiki.claims/evidence': 'Evidence is checked, member by member, in either spelling.',
    'wiki.claims/history': 'No operation loses anything of a claim’s history.',
    'wiki.claims/two-hosts': 'Two hosts that change the same claims at the same time lose nothing of their history.',
    'wiki.claims/restored': 'A claim that was deleted comes back as it was.',
    'wiki.contradictions/kept': 'A contradiction that a person lets stand, with the reason, is told no more.',
    'wiki.contradictions/many': 'Contradictions among thousands of claims are found while others have their turn.',
    'wiki.claims/crash': 'A failure at any write leaves the old or the new.',
    'wiki.claims/broken-lines': 'Lines that cannot be read are told and kept.',
    'wiki.health/findings': 'Stale, unsure, orphaned and contradicted claims are found, each with the reason.',
  }),
];
