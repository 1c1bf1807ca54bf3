import type { Material } from './material.ts';

export const HOUSEHOLD: Material = {
  facts: [
    {
      kind: 'one-turn',
      slots: { room: ['hall', 'bathroom', 'spare room', 'kitchen'], colour: ['sage green', 'terracotta', 'navy', 'mustard', 'lilac'] },
      lead: ['Is the redecorating finished?', 'How does the flat look after the weekend?'],
      said: [
        'The {room} is {colour} now. Three coats with the roller and my arms are jelly.',
        'Spent the whole weekend up a ladder; the walls of the {room} went from white to {colour}.',
      ],
      asked: [
        'What colour did {P} paint the {room}?',
        "Which shade are the walls in {P}'s {room}?",
        'What colour is the {room} of {P} now?',
        "What colour were the walls of the {room} in {P}'s home changed to?",
      ],
      answer: '{colour}',
    },
    {
      kind: 'one-turn',
      slots: { plumber: ['Mr Okafor', 'a woman named Bettina', 'Dave from number nine', 'Janusz'], cost: ['140', '85', '210', '320'] },
      lead: ['Did anyone ever come about the leak?', 'And the dripping under the sink, is that sorted?'],
      said: [
        'Yes, {plumber} swapped the valve in ten minutes and wanted {cost} for it.',
        '{plumber} came at last. {cost} euros for a new washer, can you believe it?',
      ],
      asked: [
        "Who repaired {P}'s plumbing?",
        'How much did the repair of the tap cost {P}?',
        'Who swapped the valve for {P}?',
        'How much did {P} pay for a new washer?',
      ],
      answer: '{plumber}|{cost}',
    },
    {
      kind: 'one-turn',
      slots: {
        neighbour: ['Mrs Abernathy', 'old Teodor', 'the Lindqvists', 'a flautist called Wren'],
        noise: ['practises scales after ten', 'keeps a cockerel', 'drills on Sundays', 'runs a tumble dryer at five'],
      },
      lead: ['You look tired. Bad night?', 'Is it any quieter at your place?'],
      said: [
        'I barely slept. {neighbour} upstairs {noise} and the ceiling is made of paper.',
        'The people next door are testing me again: {neighbour} {noise}.',
      ],
      asked: [
        'Which neighbour disturbs {P}?',
        'What keeps {P} awake because of the people living nearby?',
        'Who lives upstairs from {P}?',
        'What do the people next door to {P} do?',
      ],
      answer: '{neighbour}',
    },
    {
      kind: 'one-turn',
      slots: {
        pet: ['a greyhound', 'two rescue hens', 'a one-eyed cat', 'a tortoise'],
        name: ['Biscuit', 'Admiral', 'Pickle', 'Moss', 'Duchess'],
      },
      lead: ['What is that barking or clucking on the phone?', 'Did you go to the shelter after all?'],
      said: [
        'We have a new lodger: {pet} from the shelter. The children voted and it is {name}.',
        'Meet {name}! We signed the papers at the rescue centre and brought home {pet}.',
      ],
      asked: [
        "What is the name of {P}'s pet?",
        'What animal did {P} adopt?',
        'What did {P} get from the shelter?',
        'What did {P} bring home from the rescue centre?',
      ],
      answer: '{name}|{pet}',
      alias: ['the owner of {name}', 'whoever looks after {name}'],
    },
    {
      kind: 'one-turn',
      slots: { place: ['behind the boiler', 'in the blue biscuit tin', 'under the third flower pot', 'with the butcher on the corner'] },
      lead: ['How do I get in if you are away?', 'Shall I water your plants while you travel?'],
      said: [
        'If you ever need to get in while we are away, the spare key lives {place}.',
        'Water the plants on Friday, please. You can let yourself in, the key is {place}.',
      ],
      asked: [
        "Where is {P}'s spare key kept?",
        "How can one get into {P}'s home when nobody is there?",
        'Where does {P} keep the spare key?',
        "Where is the key for letting oneself in at {P}'s?",
      ],
      answer: '{place}',
    },
    {
      kind: 'time',
      slots: { thing: ['washing machine', 'oven', 'freezer', 'boiler'] },
      lead: ['Why do you sound so annoyed?', 'What is that smell of smoke in your story?'],
      said: [
        'Our {thing} gave up the ghost {when}, in the middle of everything.',
        'Disaster. {when} the {thing} started smoking and that was the end of it.',
      ],
      asked: [
        "When did {P}'s {thing} break down?",
        'On what date did the {thing} at {P}’s place stop working?',
        'When did the {thing} of {P} give up?',
        "When did {P}'s {thing} start smoking?",
      ],
    },
    {
      kind: 'time',
      lead: ['Any progress with the move?', 'Have you unpacked yet?'],
      said: [
        'We got the keys {when}! Forty-one boxes and not one of them labelled.',
        '{when} the removal van finally came and I slept on a mattress between crates.',
      ],
      asked: [
        'When did {P} move house?',
        'What happened to {P} in {date} as to housing?',
        'When did {P} get the keys?',
        'When did the removal van come to {P}?',
      ],
    },
    {
      kind: 'time',
      slots: { who: ['my aunt', 'my father-in-law', 'cousin Imre', 'the twins'] },
      lead: ['Did you have guests?', 'Was the family visit all right?'],
      said: [
        '{who} stayed with us {when} and reorganised every single cupboard.',
        '{when} we had {who} on the sofa bed, which nearly ended the family.',
      ],
      asked: [
        'When did {P} have relatives staying over?',
        'In which month did family sleep at {P}’s home?',
        'Who stayed with {P} and when?',
        'When did {P} have somebody on the sofa bed?',
      ],
    },
    {
      kind: 'preferences',
      slots: { how: ['line-dried, never tumbled', 'ironed inside out', 'folded in thirds', 'washed at thirty degrees only'] },
      lead: ['Can I help with the washing?', 'What is the matter with these shirts?'],
      said: ['Call me odd, but my shirts have to be {how}.', 'I am particular about laundry: everything {how}, please.'],
      asked: [
        'How does {P} like clothes to be treated?',
        'What is {P} fussy about with the washing?',
        "How must {P}'s shirts be done?",
        'How does {P} want the laundry?',
      ],
      answer: '{how}',
    },
    {
      kind: 'preferences',
      slots: { drink: ['oolong without milk', 'filter coffee, very weak', 'hot water with ginger', 'espresso with a slice of lemon'] },
      lead: ['What can I get you, the usual?', 'Shall I put the kettle on?'],
      said: ['You know me: {drink}.', 'Only if it is {drink}; anything else before noon makes me grumpy.'],
      asked: [
        'What does {P} like to drink?',
        'Which hot beverage should one offer {P}?',
        "What is {P}'s usual drink?",
        "What has to be in {P}'s cup before noon?",
      ],
      answer: '{drink}',
    },
    {
      kind: 'negation',
      slots: { food: ['coriander', 'aubergine', 'blue cheese', 'liver', 'olives'] },
      lead: ['Is there anything you do not like to eat?', 'I am cooking tonight, any wishes?'],
      said: [
        'Anything goes on my plate except {food}. I have tried for thirty years.',
        'Please leave out the {food}, I just cannot stand the stuff.',
      ],
      asked: [
        'What does {P} refuse to eat?',
        'Which ingredient should not be cooked for {P}?',
        "What is not welcome on {P}'s plate?",
        "What should be left out of {P}'s food?",
      ],
      answer: '{food}',
    },
    {
      kind: 'negation',
      slots: { thing: ['dishwasher', 'television', 'microwave', 'car'] },
      lead: ['Do you have one of those at home, too?', 'Can you watch or warm things up at yours?'],
      said: [
        'We never got a {thing}, and honestly I do not miss having one.',
        'No {thing} in this house, on principle. Visitors look at us as if we were monks.',
      ],
      asked: [
        'What does {P} not own?',
        'Which appliance or vehicle does {P} live without?',
        'What did {P} never get for the home?',
        'What does {P} reject in the house on principle?',
      ],
      answer: '{thing}',
    },
    {
      kind: 'open',
      lead: ['How is the kitchen coming along?', 'How do you find old papers?'],
      said: [
        'I alphabetise the spices and the children call me the librarian.',
        'Every bill since 2009 is in a ring binder with coloured tabs. It calms me.',
      ],
      asked: [
        'Would {P} be described as a tidy person?',
        'Is {P} more likely to be organised or chaotic?',
        'Does {P} keep spices in order?',
        'Does {P} keep old bills?',
      ],
    },
    {
      kind: 'open',
      lead: ['Are you not cold at home?', 'What are you doing with those bags?'],
      said: [
        'I turned the heating off in April and put on a second jumper instead; the meter is my hobby.',
        'I wash freezer bags and hang them up to dry. My grandmother would be proud.',
      ],
      asked: [
        'Would {P} be careful with money or wasteful?',
        'Does {P} seem to be thrifty?',
        'Does {P} save on heating?',
        'Does {P} reuse freezer bags?',
      ],
    },
  ],
  collections: [
    {
      asked: [
        'What has {P} repaired or built at home?',
        'Which jobs around the house has {P} done?',
        'How many things has {P} fixed at home?',
        'List the do-it-yourself work by {P}.',
      ],
      lead: ['What have you been mending?', 'Still busy with your tools?'],
      items: [
        ['Two evenings of swearing and the garden gate finally closes again.', 'gate'],
        ['I regrouted the shower myself. It is not straight, but it is watertight.', 'shower'],
        ['Guess who put up four shelves that are actually level?', 'shelves'],
        ['The gutter hung by one screw, so up the ladder I went.', 'gutter'],
        ['New hinges on the wardrobe. It no longer bites.', 'wardrobe'],
        ['I sanded the stairs down to the wood; there is dust in my ears.', 'stairs'],
        ['The doorbell plays one note again, I soldered the wire back.', 'doorbell'],
        ['Patched the hole in the fence where the fox came in.', 'fence'],
        ['Rewired the lamp from the flea market and nothing exploded.', 'lamp'],
        ['The kitchen drawer runs on wax and hope, but it runs.', 'drawer'],
      ],
    },
    {
      asked: [
        'What does {P} grow in the garden?',
        'Which plants has {P} got?',
        'How many kinds of vegetables did {P} plant?',
        'What has {P} harvested or sown?',
      ],
      lead: ['How is the garden?', 'Anything growing on your side of the fence?'],
      items: [
        ['The tomatoes are up to my shoulder, and green, all green.', 'tomatoes'],
        ['Eleven courgettes this week. Do you want some? Please want some.', 'courgettes'],
        ['I put in forty garlic cloves along the path.', 'garlic'],
        ['Slugs had the lettuce down to the stumps overnight.', 'lettuce'],
        ['My fig tree survived the frost wrapped in an old duvet.', 'fig'],
        ['We dug up the first potatoes and ate them with butter, standing.', 'potatoes'],
        ['There are sweet peas climbing up the drainpipe.', 'sweet peas'],
        ['The rhubarb came back, bigger than the dog.', 'rhubarb'],
        ['Picked two bowls of redcurrants before the blackbirds woke up.', 'redcurrants'],
        ['I sowed radishes between the paving stones as an experiment.', 'radishes'],
      ],
    },
    {
      asked: [
        'What dishes has {P} cooked?',
        'Which meals did {P} make?',
        'What has {P} baked or cooked lately?',
        'How many recipes has {P} tried?',
      ],
      lead: ['What did you have for dinner?', 'Did you cook at the weekend?'],
      items: [
        ['My lasagne fed nine people and there was a corner left for breakfast.', 'lasagne'],
        ['I finally dared a soufflé. It rose, it sighed, it sank.', 'soufflé'],
        ['Made dumplings with the kids, four hours for twelve minutes of eating.', 'dumplings'],
        ['The rye loaf came out like a paving stone but tasted fine.', 'rye'],
        ['Sunday was paella on the balcony, with neighbours sniffing.', 'paella'],
        ['I simmered a goulash from noon until the windows ran.', 'goulash'],
        ['Plum cake, two trays, gone before it had cooled.', 'plum'],
        ['Tried that green curry you sent me; I cried and had seconds.', 'curry'],
        ['We rolled sushi. It looked like luggage, but it was good.', 'sushi'],
        ['Pancakes for the whole football team, sixty of them.', 'pancakes'],
      ],
    },
  ],
  changes: [
    {
      values: ['Elm Street', 'the old brewery', 'a flat above the bakery', 'Harbour Lane', 'the station quarter', 'a houseboat'],
      before: [
        'We are quite settled at {old} by now, I even know the postman by name.',
        'Our address is still {old}, third bell from the top.',
      ],
      after: [
        'The lease is signed: from this week on you will find us at {new}.',
        'Boxes everywhere! We swapped our place for {new} and I love it already.',
      ],
      asked: ['Where does {P} live now?', "What is {P}'s current address?"],
    },
    {
      values: ['gas', 'a heat pump', 'wood pellets', 'district heating', 'oil'],
      before: ['The house runs on {old}, like everything on this street.', 'We heat with {old} and pay through the nose.'],
      after: [
        'The fitters left an hour ago; we are warm thanks to {new} from today.',
        'Goodbye old burner. It is {new} in the cellar these days.',
      ],
      asked: ["How is {P}'s home heated at present?", 'What kind of heating does {P} have these days?'],
    },
  ],
  contradictions: [
    {
      first: ['I will never have a dog, I am just not made for walks in the rain.', 'Nobody gets me to keep an animal in a flat.'],
      second: [
        'I keep looking at puppies. We are on the list of a breeder, for a spaniel.',
        'I am quite sure now that we will take in a cat this summer.',
      ],
      asked: ['What has {P} said about having a pet?', 'Does {P} want an animal or not?'],
    },
    {
      first: ['Open-plan kitchens are the worst idea in architecture.', 'I would not live on the ground floor for any money.'],
      second: [
        'We knocked the wall through to the dining room and it is glorious to cook with company.',
        'Ground floor with a little terrace, it is all I ever wanted.',
      ],
      asked: [
        'Has {P} changed their mind about how a home should be laid out?',
        'What opinions has {P} voiced about types of flats and kitchens?',
      ],
    },
  ],
  chatter: [
    'I really should sort out the cellar one of these days.',
    'Our kitchen is a mess, do not ask.',
    'Is it still raining over at yours?',
    'I must water the plants before I forget.',
    'One never stops cleaning in this house.',
    'The garden can wait until the weekend.',
    'Every home needs one drawer full of nonsense.',
    'I dreamt of a bigger house again, with a tower.',
    'Painting walls is for people with patience.',
    'Someone should invent a self-cleaning oven that works.',
    'Do neighbours ever get quieter?',
    'Cooking for one is a sad art.',
  ],
};
