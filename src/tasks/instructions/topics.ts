/** @file What requests of the generator are about: topics, each with words that an answer about it would use. */

export interface Topic {
  name: string
  /** Lower case. */
  words: readonly string[]
  /** Beginnings of words. */
  stems: readonly string[]
}

/** Of each topic name, words and, with a hyphen, beginnings of words. */
const TEXT = `
the sea: ocean wave water beach shore ship boat fish salt coast swim sail tide coral sand
a lost cat: collar street home found missing owner neighbo- reward whisker poster fur paw search
learning to cook: recipe kitchen meal taste ingredient oven knife salt vegetable soup pan bake dish
a trip to the mountains: hike trail peak snow view climb forest boots path summit valley backpack
a rainy day: rain cloud umbrella puddle wet drop window inside book blanket grey storm
my first bicycle: ride wheel pedal street helmet fall balance brake park learn handle red
coffee: bean cup brew roast morning drink aroma flavo- milk caffeine espresso taste
the moon: night star crater orbit earth light astronaut space lunar shine tide phase
an old library: book shelf shelves read quiet dust page librarian story stories wooden paper
a birthday party: cake candle friend gift balloon guest song invit- celebrat game music
a job interview: question employer company prepare resume experience skill answer hire position career
saving water: tap shower leak drop bath garden rain bill waste litre gallon reuse
gardening at home: plant soil seed flower water pot sun grow vegetable herb weed
winter: snow cold ice coat frost warm january december fire glove freez
a train station: platform ticket passenger track travel arriv- depart schedule conductor luggage clock
honesty: truth trust lie friend respect honest admit integrity believe sincere
a football match: goal team player ball score field fan win coach stadium kick
bees: honey hive flower pollen queen nectar insect buzz garden sting colony
the school bus: driver children stop seat student yellow road morning class window
city parks: tree bench grass walk playground pond green path bird families picnic
morning exercise: stretch run walk energy muscle body health breath routine sleep jog
a good novel: character story page plot read chapter author writ- hero imagin
space travel: rocket planet astronaut star orbit moon mars launch gravity galaxy ship
bread: flour dough yeast oven bake loaf crust butter slice wheat
a village market: fruit vegetable stall sell buy farmer fresh cheese price basket bread
dogs: puppy bark loyal walk tail fetch breed train pet friend paw
a thunderstorm: lightning rain thunder cloud wind flash storm sky dark loud
friendship: friend trust share laugh support kind together help listen bond
public transport: bus train ticket tram city traffic car passenger route commut-
a haunted house: ghost dark door creak scar shadow night stairs strange noise fear
music lessons: piano guitar teacher note practi- song learn melody instrument play
recycling: plastic paper glass bin waste reuse bottle trash environment sort
the desert: sand heat camel dry sun dune cactus oasis hot water
ice cream: cold sweet cone chocolate vanilla flavo- summer scoop melt dessert
a long flight: plane seat passenger airport pilot window sleep movie luggage land
house plants: leaf leaves pot water soil sun light green grow window
volcanoes: lava eruption ash erupt- mountain magma crater rock hot island
chess: board piece king queen move pawn player game win strateg-
the history of paper: china write book ink print fibre tree invent ancient page
sleep: bed night rest dream tired hour pillow wake health brain
spring cleaning: dust floor window sweep wash tidy room clean mop closet
lighthouses: light ship sea coast lamp tower keeper rock sailor shore
bridges: river cross span steel cable arch road build stone engineer
robots: machine human metal program computer task factory sensor arm help
a family dinner: table food mother father eat cook meal plate laugh together
campfires: wood flame fire night marshmallow smoke story stories warm tent friend
elephants: trunk africa tusk herd large ear ivory memory mammal calf
remote work: home office meeting computer team email desk video schedule commut-
a city marathon: run race finish mile crowd runner shoe water medal street
learning a language: word grammar speak practi- vocabulary listen teacher conversation study book
tea: leaf leaves cup water pot green black hot milk drink
a museum visit: art painting exhibit statue gallery history guide ticket picture artist
the rainforest: tree animal jungle species bird rain green leaf leaves plant monkey
savings accounts: money bank interest deposit rate account save balance budget
electric cars: battery charge motor drive range road engine emission station fuel
healthy breakfasts: egg fruit oat yogurt milk protein bread nut cereal energy
a broken computer: screen repair keyboard restart software file power data technician error
photography: camera light picture photo lens shot image frame subject color
apple trees: fruit orchard branch leaf leaves blossom harvest grow seed autumn pick
the night sky: star moon planet dark constellation telescope bright galaxy light
moving to a new town: box pack house neighbo- friend truck street rent school furniture
a magic lamp: genie wish rub gold cave smoke treasure desert king
fishing: river lake hook bait boat line rod catch water patient
the local bakery: bread cake pastry oven fresh smell morning flour customer sweet
`

/** @see Topic */
export const TOPICS: readonly Topic[] = TEXT.trim()
  .split('\n')
  .map(line => {
    const [name, list] = line.split(': ')
    const words = list.split(' ')
    const isStem = (word: string) => word.endsWith('-')
    return {
      name,
      words: words.filter(word => !isStem(word)),
      stems: words.filter(isStem).map(stem => stem.slice(0, -1)),
    }
  })

/** Words that an answer may be asked to use or to avoid, whatever it is about. */
export const COMMON_WORDS =
  'river happy simple green friend quiet story bright always idea garden morning secret journey gentle promise answer window number music careful remember future village silver'.split(
    ' ',
  )

export const NAMES =
  'Anna Ben Clara David Elena Frank Grace Hugo Irene James Karin Lucas Maria Noah Olga Peter'.split(' ')
export const DAYS = 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(' ')
export const PLACES =
  'the library|the town hall|the school gym|the old station|room 12|the garden|the museum|the beach|the office|the park'.split(
    '|',
  )
export const EVENTS =
  'meeting|picnic|concert|dinner|workshop|book club|chess evening|training session|birthday party|reading'.split(
    '|',
  )
export const THINGS =
  'desk lamp|bicycle|backpack|wooden chair|kettle|guitar|rain jacket|camera|tent|coffee machine'.split('|')
export const COLOURS = 'red|blue|green|black|white|yellow|grey|orange'.split('|')
